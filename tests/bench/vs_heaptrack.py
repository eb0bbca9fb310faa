#!/usr/bin/env python3
"""Events a second, beside heaptrack in the same minutes: heaptrack_print on ten million events of a program that heaptrack
recorded, and hbmscope's reader on ten million events of its own (trace_bench), in turn. heaptrack keeps sums; hbmscope
keeps the exact heap with its largest free block at every moment.

    vs_heaptrack.py --trace-bench BINARY --program BINARY [--pairs 5000000]
"""

import argparse
import glob
import re
import shutil
import subprocess
import sys
import tempfile
import time


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--trace-bench", required=True)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--pairs", type=int, default=5_000_000)
    options = arguments.parse_args()
    if shutil.which("heaptrack") is None:
        sys.exit("heaptrack is not installed (Debian: heaptrack); nothing to compare with")
    events = 2 * options.pairs
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["heaptrack", "-o", f"{folder}/record", options.program, str(options.pairs)], check=True, stdout=subprocess.DEVNULL)
        record = glob.glob(f"{folder}/record*")[0]
        seconds, output = [], ""
        for _ in range(3):
            start = time.monotonic()
            subprocess.run(["heaptrack_print", record], check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.monotonic() - start)
            output = subprocess.run([options.trace_bench, str(events)], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(output, end="")
    theirs = events / min(seconds) / 1e6
    ours = float(re.search(r"^opened .*?([0-9.]+) M events a second", output, re.M).group(1))
    print(f"heaptrack_print {theirs:.1f} M events a second; hbmscope {ours:.1f}: {ours / theirs:.2f} times as many")


if __name__ == "__main__":
    main()
