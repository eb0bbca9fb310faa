#!/usr/bin/env python3
"""The pool of a real framework, as hbmscope records it, against the framework's own figures at many quiet points.

    tests/real/pool_test.py HBMSCOPE PYTHON JOB ...     JOB: pool_jax.py 1000 threads, or pool_torch.py, pool_tensorflow.py

At each point, for every device: what is in use to the byte, the number of allocations so far, and each array that the
job holds is a block. With `attached` the job is started without hbmscope, which then attaches to it twice: of what was
there before, the sum is known, of PyTorch each block, and of JAX those that its programs get.
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
import time

import emulated

HERE = pathlib.Path(__file__).resolve().parent


def read_marks(folder):
    return [json.loads(line) for line in (folder / "marks.jsonl").read_text().splitlines()]


def record(hbmscope, python, job, folder, devices):
    recording = folder / "job.hbm"
    environment = {**os.environ, "POOL_MARKS": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [hbmscope, "run", "--emulate", f"h100:{devices}", "--device-bytes", "8GiB", "--json", "--no-window", "--flight", folder / "flights"]
    done = subprocess.run([*command, "--record", recording, "--", python, HERE / job[0], *job[1:]], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    return read_marks(folder), recording


def attach(hbmscope, python, job, folder, devices):
    recording = folder / "job.hbm"
    device = {"COUNT": str(devices), "BYTES": str(8 << 30), "CONTEXT_BYTES": str(500 << 20)}
    environment = emulated.environment(pathlib.Path(hbmscope).parents[1] / "emulated")
    environment.update({f"HBMSCOPE_DEVICE_{name}": value for name, value in device.items()})
    environment.update(POOL_MARKS=str(folder), PYTHONDONTWRITEBYTECODE="1", XLA_FLAGS="--xla_gpu_autotune_level=0")
    started = subprocess.Popen([python, HERE / job[0], *job[1:]], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not (folder / "ready").exists():
        if started.poll() is not None:
            sys.exit(started.stdout.read()[-3000:])
        time.sleep(0.01)
    command = [hbmscope, "attach", str(started.pid), "--no-window", "--no-flight"]
    subprocess.run([*command, "--for", "0.2s", "--record", folder / "first.hbm"], check=True, capture_output=True)
    observer = subprocess.Popen([*command, "--record", recording], stderr=subprocess.PIPE, text=True)
    for line in observer.stderr:
        if "attached to" in line:
            break
    (folder / "go").touch()
    output, _ = started.communicate(timeout=300)
    observer.communicate(timeout=60)
    if started.returncode != 0:
        sys.exit(output[-3000:])
    return read_marks(folder), recording


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


def fields_of(message):
    """Of a protobuf: (number, value) pairs; a value is a number or bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 2:
            size = number()
            yield key >> 3, message[at : at + size]
            at += size
        else:  # A float or a double.
            at += 4 if key & 7 == 5 else 8
            yield key >> 3, None


def blocks_of_dump(path):
    """XLA's own list (tensorflow.MemoryDump): address -> bytes of the chunks in use."""
    chunks = [dict(fields_of(value)) for field, value in fields_of(path.read_bytes()) if field == 3]
    return {chunk[1]: chunk[2] for chunk in chunks if chunk.get(8)}


def compare_dumps(folder, events):
    """The dumps that XLA wrote at an out-of-memory error, with the blocks at that time."""
    dumps = sorted(folder.glob("flights/*/bfc_memory_dump*"))
    blocks = collections.defaultdict(dict)
    for event in events:
        address = int(event["address"] or "-1", 0)
        if event["kind"] == "out_of_memory":
            equal = sum(blocks_of_dump(dump) == blocks[event["heap"]] for dump in dumps)
            print(f"{equal} of {len(dumps)} dumps of XLA list the same {len(blocks[event['heap']])} blocks")
            return equal == len(dumps) > 0
        if event["kind"] == "alloc":
            blocks[event["heap"]][address] = int(event["size_bytes"])
        elif event["kind"] == "free":
            blocks[event["heap"]].pop(address, None)
    return False


def compare(marks, events, marked_device):
    """The device for marks, of an attached job; None: marks are calls of the driver."""
    waiting = {mark["mark"]: mark for mark in marks}
    signals = 0
    blocks, requested = collections.defaultdict(dict), collections.defaultdict(dict)  # By device: address -> size.
    allocs = collections.Counter()
    checks = failed = points = whole = from_before = 0
    for event in events:
        size = int(event["size_bytes"] or 0)
        device = device_of(event["heap"])
        key = size
        if marked_device is not None and device == marked_device and event["kind"] == "alloc":
            signals += 1
            key = 5_000_000 + signals
        if event["kind"] == "alloc" and key in waiting:
            mark = waiting.pop(key)
            points += 1
            wrong = []
            for device, in_use in mark["in_use"].items():
                checks += 1
                if (seen := sum(blocks[device].values())) != in_use:
                    wrong.append(f"device {device}: {seen} B in use, the framework says {in_use} B")
            for device, count in mark["allocs"].items() if marked_device is None else ():
                checks += 1
                if allocs[device] != count:
                    wrong.append(f"device {device}: {allocs[device]} allocations, the framework says {count}")
            for device, bytes_of in mark.get("requested", {}).items() if marked_device is None else ():
                checks += 1
                if (seen := sum(requested[device].values())) != bytes_of:
                    wrong.append(f"device {device}: {seen} B requested, the framework says {bytes_of} B")
            for device, address, size_of_array in mark["arrays"]:
                checks += 1
                if marked_device is not None and address not in blocks[str(device)]:
                    continue  # From before.
                if blocks[str(device)].get(address, -1) < size_of_array and size_of_array > 0:
                    wrong.append(f"device {device}: no block for the array at {address:#x} with {size_of_array} B")
            if mark.get("blocks") is not None and marked_device is None:
                checks += 1
                whole += 1
                if sorted(mark["blocks"]) != sorted([int(key), at, bytes_of] for key in blocks for at, bytes_of in blocks[key].items()):
                    wrong.append("the framework's list of blocks is another one")
            failed += len(wrong)
            for line in wrong[:3]:
                print(f"point {points}: {line}")
            continue
        from_before += event["text"] == "before hbmscope was attached"
        if device is None or device == marked_device:
            continue
        if event["kind"] == "alloc":
            blocks[device][int(event["address"] or "-1", 0)] = size
            requested[device][int(event["address"] or "-1", 0)] = int(event["requested_bytes"] or 0)
            allocs[device] += 1
        elif event["kind"] in ("free", "free_at"):
            blocks[device].pop(int(event["address"] or "-1", 0), None)
            requested[device].pop(int(event["address"] or "-1", 0), None)
    if marked_device is not None:
        print(f"{from_before} blocks from before the attach are known")
    if waiting:
        failed += len(waiting)
        print(f"{len(waiting)} marks are not in the recording")
    print(f"{points} points{f', {whole} of them block for block' if whole else ''}, {sum(allocs.values())} allocations, {checks} checks, {failed} failed")
    return failed == 0 and points > 0 and (from_before > 0 or marked_device is None)


def main():
    hbmscope, python, *job = sys.argv[1:]
    devices = 8 if "sharded" in job else 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        is_attached = "attached" in job
        marks, recording = (attach if is_attached else record)(hbmscope, python, job, folder, devices)
        is_equal = compare(marks, events_of(hbmscope, recording), str(devices - 1) if is_attached else None)
        if "oom" in job and not is_attached:
            (flight,) = (folder / "flights").iterdir()
            if job[0] == "pool_jax.py":
                is_equal = compare_dumps(folder, events_of(hbmscope, recording)) and is_equal
            print((flight / "what_happened.txt").read_text().splitlines()[1])
    sys.exit(0 if is_equal else 1)


if __name__ == "__main__":
    main()
