#!/usr/bin/env python3
"""How long hbmscope takes to report a PyTorch snapshot of a million entries, and in how much memory, beside Python's own
unpickling of the same file in the same minutes.

    snapshot_speed.py --hbmscope BINARY [--entries N] [--folder FOLDER] [--beside 'COMMAND']

--beside takes another command that opens such a file; it gets the file's name last. For PyTorch's browser viewer that is
node with a script of the functions unpickle, annotate_snapshot and process_alloc_data of torch/utils/viz/MemoryViz.js,
called one after the other as the page does before it draws anything.
"""

import argparse
import bisect
import os
import pickle
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

SEGMENT_BYTES, SEGMENTS, LIVE_MOST = 20 << 20, 900, 3000
BASE = 0x7F4440000000


class Pool:
    """Places blocks as PyTorch's allocator does its large ones: the smallest free piece that is large enough, from its
    start; pieces that are given back join their neighbours; what remains is split off if it is more than 1 MiB."""

    def __init__(self):
        self.by_size = [(SEGMENT_BYTES, BASE + i * (SEGMENT_BYTES + (2 << 20))) for i in range(SEGMENTS)]
        self.size_at = {address: size for size, address in self.by_size}
        self.end_at = {address + size: address for size, address in self.by_size}

    def add(self, address, size):
        bisect.insort(self.by_size, (size, address))
        self.size_at[address], self.end_at[address + size] = size, address

    def remove(self, address):
        size = self.size_at.pop(address)
        del self.end_at[address + size]
        del self.by_size[bisect.bisect_left(self.by_size, (size, address))]
        return size

    def take(self, size):
        span, address = self.by_size[bisect.bisect_left(self.by_size, (size, 0))]
        self.remove(address)
        if span - size <= 1 << 20:
            return address, span
        self.add(address + size, span - size)
        return address, size

    def give_back(self, address, size):
        if address + size in self.size_at:
            size += self.remove(address + size)
        if address in self.end_at:
            before = self.end_at[address]
            size += self.remove(before)
            address = before
        self.add(address, size)


def make_stacks(source):
    pool = [{"name": f"forward_{i}", "filename": f"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module_{i % 40}.py",
             "line": 1 + i * 13} for i in range(300)]
    return [[source.choice(pool) for _ in range(source.randint(15, 24))] for _ in range(2000)]


def make_snapshot(path, entries):
    source = random.Random(7)
    stacks, live, trace, pool = make_stacks(source), {}, [], Pool()
    time_us = 1_700_000_000_000_000
    while len(trace) < entries:
        time_us += source.randint(1, 20)
        if len(live) < LIVE_MOST // 2 or source.random() < 0.5 and len(live) < LIVE_MOST:
            requested, stack = (1 << 20) + 512 * source.randint(1, 8192), source.choice(stacks)
            address, size = pool.take(requested)
            live[address] = (requested, size, stack)
            actions = ("alloc",)
        else:
            address = source.choice(list(live)) if len(trace) % 997 == 0 else next(iter(live))
            requested, size, stack = live.pop(address)
            pool.give_back(address, size)
            actions = ("free_requested", "free_completed")
        for action in actions:
            trace.append({"action": action, "addr": address, "size": requested, "stream": 0, "time_us": time_us, "frames": stack})
    with open(path, "wb") as file:
        pickle.dump({"segments": segments_from(live, pool), "device_traces": [trace], "allocator_settings": {}}, file, protocol=4)


def segments_from(live, pool):
    segments = []
    for begin in range(BASE, BASE + SEGMENTS * (SEGMENT_BYTES + (2 << 20)), SEGMENT_BYTES + (2 << 20)):
        blocks, allocated, requested, address = [], 0, 0, begin
        while address < begin + SEGMENT_BYTES:
            if address in live:
                requested, size, stack = live[address]
                blocks.append({"address": address, "size": size, "requested_size": requested, "state": "active_allocated", "frames": stack})
                allocated, requested = allocated + size, requested + requested
            else:
                size = pool.size_at[address]
                blocks.append({"address": address, "size": size, "requested_size": 0, "state": "inactive", "frames": []})
            address += size
        segments.append({"device": 0, "address": begin, "total_size": SEGMENT_BYTES, "allocated_size": allocated,
                         "active_size": allocated, "requested_size": requested, "stream": 0, "segment_type": "large",
                         "is_expandable": False, "frames": [], "blocks": blocks})
    return segments


def run(command):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with {status}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def best_and_median(runs):
    return min(runs), sorted(runs)[len(runs) // 2]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hbmscope", required=True)
    arguments.add_argument("--entries", type=int, default=1_000_000)
    arguments.add_argument("--folder", default=".")
    arguments.add_argument("--beside", type=shlex.split, default=[], metavar="COMMAND")
    options = arguments.parse_args()
    path = Path(options.folder) / f"snapshot_{options.entries}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # In a process of its own: a child's peak begins at its parent's size.
        subprocess.run([sys.executable, "-c", f"import snapshot_speed as s; s.make_snapshot({str(path.resolve())!r}, {options.entries})"],
                       cwd=Path(__file__).parent, check=True)
    python = [sys.executable, "-c", f"import pickle; pickle.load(open({str(path)!r}, 'rb'))"]
    commands = {"hbmscope report": [options.hbmscope, "report", str(path)], "python pickle.load": python}
    if options.beside:
        commands[options.beside[0]] = [*options.beside, str(path)]
    runs = {name: [] for name in commands}
    for _ in range(7):
        for name, command in commands.items():
            runs[name].append(run(command))
    print(f"{options.entries} entries, {path.stat().st_size / 1e6:.1f} MB; of seven runs in turn the best and the median")
    (best, memory), (median, _) = best_and_median(runs.pop("hbmscope report"))
    print(f"hbmscope report      {best:6.3f} {median:6.3f} s  {memory:5.0f} MiB   {options.entries / best / 1e6:.2f} M entries a second")
    for name, of_peer in runs.items():
        (peer_best, peer_memory), (peer_median, _) = best_and_median(of_peer)
        print(f"{name:20} {peer_best:6.3f} {peer_median:6.3f} s  {peer_memory:5.0f} MiB   {peer_best / best:.1f} and {peer_median / median:.1f} "
              f"times as long, {peer_memory / memory:.1f} times the memory")


if __name__ == "__main__":
    main()
