#!/usr/bin/env python3
"""How fast hbmscope finds the one failure of a long log, and in how much memory, beside `wc -l` of the same file in the
same minutes: the floor of whatever looks at every line.

    log_speed.py --hbmscope BINARY [--gigabytes N] [--folder FOLDER] [--runs N]

The lines are those of a training job: a time, a level, a step with its figures, now and then a warning, a progress bar
or a line of JSON. One in two thousand speaks of memory without a failure. PyTorch's sentence stands near the end. In the
second log the warnings, one line in twenty, have a common word of sentences about memory ("took"), in the third a rare
one ("memory"), so that they are read and not only scanned.
"""

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import time
from pathlib import Path

FAILURE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB of "
    "which 9.12 MiB is free. Including non-PyTorch memory, this process has 79.13 GiB memory in use. Of the allocated "
    "memory 77.50 GiB is allocated by PyTorch, and 1.02 GiB is reserved by PyTorch but unallocated.\n"
)
PIECE_BYTES = 16 << 20


def make_lines(size, word):
    source = random.Random(7)
    lines, length, step = [], 0, 0
    while length < size:
        step += 1
        stamp = f"2026-03-{1 + step // 86400 % 28:02} {step // 3600 % 24:02}:{step // 60 % 60:02}:{step % 60:02},{step % 1000:03}"
        kind = source.random()
        if kind < 0.0005:
            line = f"{stamp} INFO trainer: memory allocated {source.randint(20, 70)}.{step % 10} GB, reserved 72.1 GB\n"
        elif kind < 0.02:
            line = f'{{"time": "{stamp}", "level": "info", "message": "saved checkpoint-{step} in {source.random():.2f} s"}}\n'
        elif kind < 0.05:
            line = f"\rEpoch {step // 1000}:  {step % 100}%|####      | {step % 1000}/1000 [00:{step % 60:02}<01:12,  7.31it/s]\n"
        elif kind < 0.1:
            line = f"{stamp} WARNING dataloader.py:{step % 500}: worker {step % 16} {word} {source.random():.3f} s for a batch\n"
        else:
            line = (
                f"{stamp} INFO [rank{step % 8}] step {step} loss {source.random():.6f} grad_norm {source.random():.4f} "
                f"lr 3.0e-04 tokens/s {source.randint(10_000, 99_999)} mfu {source.random():.3f}\n"
            )
        lines.append(line)
        length += len(line)
    return "".join(lines)


def make_log(path, size, word):
    """The same piece again and again, as far as the scan is concerned; returns the number of the failure's line."""
    piece = make_lines(PIECE_BYTES, word)
    lines = 0
    with path.open("w") as file:
        for number in range(max(1, size // PIECE_BYTES)):
            if number == max(1, size // PIECE_BYTES) - 1:
                file.write(FAILURE)
                failure = lines + 1
            file.write(piece)
            lines += piece.count("\n")
    return failure


def run(command):
    """Seconds, the most memory in bytes, and what it printed. A new process counts the memory of the one that started
    it, so the logs are made in processes of their own."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    printed = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {process.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss * 1024, printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hbmscope", required=True)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--folder", type=Path, default=Path("log_speed"))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "train.log"
    for title, word in (("usual", "needed"), ("wordy", "took"), ("wordier", "memory")):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            failure = pool.apply(make_log, (path, int(options.gigabytes * 1e9), word))
        measure(title, path, failure, options)
        path.unlink()


def measure(title, path, failure, options):
    commands = {"hbmscope report": [options.hbmscope, "report", str(path)], "wc -l": ["wc", "-l", str(path)]}
    results = {name: [] for name in commands}
    for _ in range(options.runs):
        for name, command in commands.items():
            results[name].append(run(command))
    printed = results["hbmscope report"][0][2]
    if f"line {failure:,} of the log" not in printed:
        sys.exit(f"the failure of line {failure:,} was not found:\n{printed}")
    size = path.stat().st_size
    best = {name: min(seconds for seconds, _, _ in runs) for name, runs in results.items()}
    print(f"{title} log, {size / 1e9:.2f} GB, the best of {options.runs} runs each")
    for name, runs in results.items():
        memory = max(peak for _, peak, _ in runs) / 2**20
        print(f"  {name:<16}  {best[name]:6.3f} s  {size / 1e9 / best[name]:5.2f} GB/s  {memory:6.1f} MiB")
    print(f"  hbmscope takes {best['hbmscope report'] / best['wc -l']:.1f} times as long as wc -l")


if __name__ == "__main__":
    main()
