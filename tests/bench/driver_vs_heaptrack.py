#!/usr/bin/env python3
"""What a call costs its thread more, twenty frames deep with the stack of who called: a call of the driver under
hbmscope, and one of malloc under heaptrack, in turn in the same minutes. Both walk the stack, know it again, and write it
and the event for another process. heaptrack takes none for free(), so what a pair of calls costs is one stack there and
two here.

    driver_vs_heaptrack.py --hbmscope BINARY --driver-bench BINARY --bare-driver FOLDER [--rounds 3]
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more).stdout


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hbmscope", required=True)
    arguments.add_argument("--driver-bench", required=True)
    arguments.add_argument("--bare-driver", required=True, help="the folder of the libcuda.so.1 that does nothing")
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    if shutil.which("heaptrack") is None:
        sys.exit("heaptrack is not installed (Debian: heaptrack); nothing to compare with")
    bench = os.path.abspath(options.driver_bench)
    ours, theirs, floors = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(options.bare_driver), XDG_RUNTIME_DIR=folder)
        collected = [os.path.abspath(options.hbmscope), "run", "--no-window", "--stacks", "native", "--record", f"{folder}/run.hbm", "--", bench]
        for _ in range(options.rounds):
            said = run(collected, env=environment, cwd=folder)
            deep = re.search(r"frames deep: .*: ([0-9.]+) ns more; backtrace\(\) ([0-9.]+) ns", said)
            ours.append(float(deep.group(1)))
            floors.append(float(deep.group(2)))
            os.remove(f"{folder}/run.hbm")

            def malloc(command):
                return float(re.search(r"([0-9.]+) ns a call", run(command, cwd=folder)).group(1))

            theirs.append(malloc(["heaptrack", "-o", f"{folder}/record", bench, "--malloc"]) - malloc([bench, "--malloc"]))
    ours, theirs, floor = (statistics.median(figures) for figures in (ours, theirs, floors))
    print(f"a call and its stack: hbmscope {ours:.0f} ns more; heaptrack {2 * theirs:.0f} ns with the free() that has none; backtrace() alone {floor:.0f} ns")
    print(f"hbmscope takes {ours / (2 * theirs):.2f} times as long as heaptrack")


if __name__ == "__main__":
    main()
