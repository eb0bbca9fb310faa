#!/usr/bin/env python3
"""Makes up PyTorch memory snapshots: `random_snapshot(random, ...)`, or as a file for measuring

    make_snapshot.py ENTRIES FILE [PROTOCOL]
"""

import pickle
import random as random_module
import sys

ACTIONS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap")
STATES = ("active_allocated", "active_pending_free", "active_awaiting_free", "inactive")


def make_stacks(random, count, frames=300, depth=(15, 24)):
    files = [f"/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module_{i}.py" for i in range(40)]
    pool = [
        {"name": f"forward_{i}", "filename": random.choice(files), "line": random.randrange(1, 4000)}
        for i in range(frames)
    ]
    return [[random.choice(pool) for _ in range(random.randint(*depth))] for _ in range(count)]


def make_entry(random, stacks, time_us):
    action = random.choice(ACTIONS)
    return {
        "action": action,
        "addr": 0x7F4440000000 + 512 * random.randrange(1 << 25),
        "size": 512 * random.randrange(1, 1 << 17),
        "stream": 0,
        "time_us": time_us,
        "compile_context": "N/A",
        "frames": random.choice(stacks),
    }


def make_segment(random, stacks, address):
    blocks, at = [], address
    for _ in range(random.randint(1, 8)):
        size = 512 * random.randrange(1, 4096)
        block = {
            "address": at,
            "size": size,
            "requested_size": size - random.randrange(512),
            "state": random.choice(STATES),
            "frames": random.choice(stacks),
        }
        blocks.append(block)
        at += size
    return {
        "device": 0,
        "address": address,
        "total_size": at - address,
        "allocated_size": 0,
        "active_size": 0,
        "requested_size": 0,
        "stream": 0,
        "segment_type": random.choice(("small", "large")),
        "segment_pool_id": (0, random.randrange(3)),
        "is_expandable": random.random() < 0.2,
        "frames": random.choice(stacks + [[]]),
        "blocks": blocks,
    }


def random_snapshot(random, entries, segments=20, devices=2, stacks=30):
    stacks = make_stacks(random, stacks)
    time_us = 1757253255954476
    traces = []
    for _ in range(devices):
        trace = []
        for _ in range(entries):
            time_us += random.randrange(200)
            trace.append(make_entry(random, stacks, time_us))
        traces.append(trace)
    return {
        "segments": [make_segment(random, stacks, 0x7F4440000000 + (i << 25)) for i in range(segments)],
        "device_traces": traces,
        "allocator_settings": {"max_split_size": -1, "threshold": 0.0, "expandable": True, "roundup": {"1": 0, "2": 4}},
        "external_annotations": [{"stage": "START", "name": "step", "device": 0, "time_us": time_us}],
    }


def odd_snapshot(random):
    """Whatever a field can hold: missing, None, negative, of 64 bits and more, a float, of another type."""
    snapshot = random_snapshot(random, 60, 6)
    # No absurd sizes here: what they become is the business of the unit tests.
    addresses = [None, -1, -(1 << 63), 1 << 63, (1 << 64) - 1, (1 << 60), -(1 << 60), -(1 << 60) - 1, 0, True]
    for trace in snapshot["device_traces"]:
        for entry in trace:
            what = random.randrange(10)
            if what == 0:
                entry["addr"] = random.choice(addresses)
            elif what == 1:
                entry["action"] = random.choice(("oom", "snapshot", "user_defined", "free", ""))
            elif what == 2:
                del entry[random.choice(list(entry))]
            elif what == 3:
                entry["user_metadata"] = random.choice(("", "step 3", "größer", "x" * 300, None, 17, -1, 0.5, True))
            elif what == 4:
                entry["size"] = float(entry["size"])
            elif what == 5:
                entry["stream"] = random.choice((-1, 0x7F0000001234, (1 << 64) - 5))
            if entry.get("action") == "oom" and random.random() < 0.7:
                entry["device_free"] = entry.pop("addr", 5) or 7
                if entry["device_free"] < 0 or entry["device_free"] >= 1 << 48:
                    entry["device_free"] = 9
    for segment in snapshot["segments"]:
        for key in random.sample(list(segment), 2):
            if key != "blocks":
                del segment[key]
        for block in segment["blocks"]:
            what = random.randrange(6)
            if what == 0:
                del block["address"]
            elif what == 1:
                del block["requested_size"]
            elif what == 2:
                frames = block.pop("frames")
                del block["requested_size"]
                block["history"] = [{"addr": 1, "real_size": 77, "frames": frames}, {"addr": 2, "real_size": 78}]
            elif what == 3:
                block["user_metadata"] = "a block's"
    return snapshot


def main():
    entries, path = int(sys.argv[1]), sys.argv[2]
    protocol = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    snapshot = random_snapshot(random_module.Random(1), entries, segments=500, devices=1, stacks=2000)
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, protocol=protocol)


if __name__ == "__main__":
    main()
