#!/usr/bin/env python3
"""Runs a program on the emulated CUDA device.

    tests/real/emulated.py EMULATED PROGRAM ...     EMULATED is build/release/emulated

The libraries are preloaded: wheels find NVIDIA's own by an RPATH, which comes before LD_LIBRARY_PATH.
"""

import os
import pathlib
import sys


def environment(emulated):
    folder = pathlib.Path(emulated).resolve()
    added = {
        "LD_PRELOAD": [str(library) for library in sorted((folder / "lib").iterdir())],
        "LD_LIBRARY_PATH": [str(folder / "lib")],
        "PYTHONPATH": [str(folder / "python")],
    }
    variables = dict(os.environ)
    for name, values in added.items():
        variables[name] = ":".join(values + [variables[name]] if variables.get(name) else values)
    return variables


def main():
    emulated, *command = sys.argv[1:]
    os.execvpe(command[0], command, environment(emulated))


if __name__ == "__main__":
    main()
