#!/usr/bin/env python3
"""The pool of a real framework, as hbmscope records it, against the framework's own figures at many quiet points.

    tests/real/pool_test.py HBMSCOPE PYTHON JOB ...     JOB: pool_jax.py 1000 threads, or pool_torch.py

At each point, for every device: what is in use to the byte, the number of allocations so far, and each array that the
job holds is a block.
"""

import collections
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def record(hbmscope, python, job, folder, devices):
    marks, recording = folder / "marks.jsonl", folder / "job.hbm"
    environment = {**os.environ, "POOL_MARKS": str(marks), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [hbmscope, "run", "--emulate", f"h100:{devices}", "--device-bytes", "8GiB", "--json", "--no-window", "--flight", folder / "flights"]
    done = subprocess.run([*command, "--record", recording, "--", python, HERE / job[0], *job[1:]], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    return [json.loads(line) for line in marks.read_text().splitlines()], recording, json.loads(done.stdout)


def events_of(hbmscope, recording):
    output = recording.with_suffix(".csv")
    subprocess.run([hbmscope, "export", recording, "--to", "csv", "--what", "events", "-o", output], check=True, capture_output=True)
    with open(output, newline="") as file:
        yield from csv.DictReader(file)


def device_of(heap):
    """GPU_3_bfc, "GPU 3 PyTorch pool": of the pools on devices, and of the CPU's."""
    if heap == "bfc_cpu_allocator_for_gpu":
        return "cpu"
    found = re.fullmatch(r"GPU_(\d+)_bfc|GPU (\d+) PyTorch pool", heap)
    return (found[1] or found[2]) if found else None


def compare(marks, events):
    waiting = {mark["mark"]: mark for mark in marks}
    blocks = collections.defaultdict(dict)  # By device: address -> size.
    allocs = collections.Counter()
    checks = failed = points = 0
    for event in events:
        size = int(event["size_bytes"] or 0)
        if event["kind"] == "alloc" and size in waiting:
            mark = waiting.pop(size)
            points += 1
            wrong = []
            for device, in_use in mark["in_use"].items():
                checks += 1
                if (seen := sum(blocks[device].values())) != in_use:
                    wrong.append(f"device {device}: {seen} B in use, the framework says {in_use} B")
            for device, count in mark["allocs"].items():
                checks += 1
                if allocs[device] != count:
                    wrong.append(f"device {device}: {allocs[device]} allocations, the framework says {count}")
            for device, address, size_of_array in mark["arrays"]:
                checks += 1
                if blocks[str(device)].get(address, -1) < size_of_array and size_of_array > 0:
                    wrong.append(f"device {device}: no block for the array at {address:#x} with {size_of_array} B")
            failed += len(wrong)
            for line in wrong[:3]:
                print(f"point {points}: {line}")
            continue
        device = device_of(event["heap"])
        if device is None:
            continue
        if event["kind"] == "alloc":
            blocks[device][int(event["address"], 0)] = size
            allocs[device] += 1
        elif event["kind"] in ("free", "free_at"):
            blocks[device].pop(int(event["address"], 0), None)
    if waiting:
        failed += len(waiting)
        print(f"{len(waiting)} marks are not in the recording")
    print(f"{points} points, {sum(allocs.values())} allocations, {checks} checks, {failed} failed")
    return failed == 0 and points > 0


def main():
    hbmscope, python, *job = sys.argv[1:]
    devices = 8 if "sharded" in job else 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        marks, recording, verdict = record(hbmscope, python, job, folder, devices)
        is_equal = compare(marks, events_of(hbmscope, recording))
        if "oom" in job:
            (flight,) = (folder / "flights").iterdir()
            print((flight / "what_happened.txt").read_text().splitlines()[1])
    sys.exit(0 if is_equal else 1)


if __name__ == "__main__":
    main()
