#!/usr/bin/env python3
"""Runs a program on the emulated CUDA device.

    tests/real/emulated.py EMULATED CUDA_MAJOR PROGRAM ...     EMULATED is build/release/emulated

The libraries are preloaded: wheels find NVIDIA's own by an RPATH, which comes before LD_LIBRARY_PATH.
"""

import os
import pathlib
import sys


def environment(emulated, major):
    folders = [pathlib.Path(emulated) / "driver", pathlib.Path(emulated) / f"cuda{major}"]
    libraries = [str(file) for folder in folders for file in sorted(folder.iterdir())]
    added = {
        "LD_PRELOAD": libraries,
        "LD_LIBRARY_PATH": [str(folder) for folder in folders],
        "PYTHONPATH": [str(pathlib.Path(emulated) / "python")],
    }
    variables = dict(os.environ)
    for name, values in added.items():
        variables[name] = ":".join(values + [variables[name]] if variables.get(name) else values)
    return variables


def main():
    emulated, major, *command = sys.argv[1:]
    os.execvpe(command[0], command, environment(emulated, major))


if __name__ == "__main__":
    main()
