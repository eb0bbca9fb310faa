#!/usr/bin/env python3
"""How long hbmscope takes to report a PyTorch snapshot of a million entries, and in how much memory, beside Python's own
unpickling of the same file in the same minutes.

    snapshot_speed.py --hbmscope BINARY [--entries N] [--folder FOLDER]

For scale: what the browser viewer of PyTorch computes for such a file (unpickling, annotating, preparing the default
15,000 entries; no drawing) took 3.4 s and 762 MiB in node on a machine like this one.
"""

import argparse
import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

SLOT, SLOTS_OF_SEGMENT, SEGMENTS = 1 << 20, 20, 160  # At most 3,200 live blocks.
BASE = 0x7F4440000000


def make_stacks(source):
    pool = [{"name": f"forward_{i}", "filename": f"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module_{i % 40}.py",
             "line": 1 + i * 13} for i in range(300)]
    return [[source.choice(pool) for _ in range(source.randint(15, 24))] for _ in range(2000)]


def address_of(slot):
    return BASE + slot // SLOTS_OF_SEGMENT * (SLOTS_OF_SEGMENT + 4) * SLOT + slot % SLOTS_OF_SEGMENT * SLOT


def make_snapshot(path, entries):
    source = random.Random(7)
    stacks, live, trace = make_stacks(source), {}, []
    free = list(range(SLOTS_OF_SEGMENT * SEGMENTS))
    time_us = 1_700_000_000_000_000
    while len(trace) < entries:
        time_us += source.randint(1, 20)
        if free and (len(live) < 1500 or source.random() < 0.5 and len(live) < 3000):
            slot = free.pop(source.randrange(len(free)))
            live[slot] = (512 * source.randint(1, 2048), source.choice(stacks))
            actions = ("alloc",)
        else:
            slot = source.choice(list(live)) if len(trace) % 997 == 0 else next(iter(live))
            actions = ("free_requested", "free_completed")
        size, stack = live[slot]
        for action in actions:
            trace.append({"action": action, "addr": address_of(slot), "size": size, "stream": 0, "time_us": time_us, "frames": stack})
        if len(actions) == 2:
            del live[slot]
            free.append(slot)
    segments = []
    for segment in range(SEGMENTS):
        blocks, allocated = [], 0
        for slot in range(segment * SLOTS_OF_SEGMENT, (segment + 1) * SLOTS_OF_SEGMENT):
            size, stack = live.get(slot, (0, []))
            allocated += size
            if size:
                blocks.append({"address": address_of(slot), "size": size, "requested_size": size, "state": "active_allocated", "frames": stack})
            if size < SLOT:
                blocks.append({"address": address_of(slot) + size, "size": SLOT - size, "requested_size": 0, "state": "inactive", "frames": []})
        segments.append({"device": 0, "address": address_of(segment * SLOTS_OF_SEGMENT), "total_size": SLOTS_OF_SEGMENT * SLOT, "allocated_size": allocated,
                         "active_size": allocated, "requested_size": allocated, "stream": 0, "segment_type": "large",
                         "is_expandable": False, "frames": [], "blocks": blocks})
    with open(path, "wb") as file:
        pickle.dump({"segments": segments, "device_traces": [trace], "allocator_settings": {}}, file, protocol=4)


def run(command):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with {status}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hbmscope", required=True)
    arguments.add_argument("--entries", type=int, default=1_000_000)
    arguments.add_argument("--folder", default=".")
    options = arguments.parse_args()
    path = Path(options.folder) / f"snapshot_{options.entries}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # In a process of its own: a child's peak begins at its parent's size.
        subprocess.run([sys.executable, "-c", f"import snapshot_speed as s; s.make_snapshot({str(path.resolve())!r}, {options.entries})"],
                       cwd=Path(__file__).parent, check=True)
    python = [sys.executable, "-c", f"import pickle; pickle.load(open({str(path)!r}, 'rb'))"]
    ours, peer = [], []
    for _ in range(5):
        ours.append(run([options.hbmscope, "report", str(path)]))
        peer.append(run(python))
    (seconds, memory), (peer_seconds, peer_memory) = min(ours), min(peer)
    print(f"{options.entries} entries, {path.stat().st_size / 1e6:.1f} MB")
    print(f"hbmscope report     {seconds:6.3f} s   {memory:6.0f} MiB   {options.entries / seconds / 1e6:.2f} M entries a second")
    print(f"python pickle.load  {peer_seconds:6.3f} s   {peer_memory:6.0f} MiB   ratio {seconds / peer_seconds:.2f}")


if __name__ == "__main__":
    main()
