#!/usr/bin/env python3
"""Replays what XLA's pool did in a real JAX job, as hbmscope recorded it, with allocator/reference/xla_gpu.

    tests/real/pool_replay.py HBMSCOPE PYTHON VERSION      VERSION: of the allocator, classic, classic_align or spatial_v3

A pool with two ends is preallocated; one that grows is classic_align in the same JAX.
Compared are the address and the block size of every request, every refusal, and what the pool asked the driver for:
each region and each refused size, in order. The driver of the replay serves and refuses what the recorded one did.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
POOL = "GPU_0_bfc"
MIB = 1 << 20

# Arguments of the job, size of the device, variables.
GROWING = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
JOBS = [
    ("1 150", 8192, {}),
    ("2 150 oom", 8192, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}),
    ("3 150", 8192, GROWING),
    ("4 150 oom", 8192, GROWING),
    ("5 40 fill", 3072, {}),
    ("6 40 fill", 3072, {**GROWING, "XLA_PYTHON_CLIENT_MEM_FRACTION": ".98"}),  # The driver refuses first.
]


def record(hbmscope, python, job, device_mib, variables, folder):
    recording = folder / "job.hbm"
    environment = {**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [hbmscope, "run", "--emulate", "h100", "--device-bytes", f"{device_mib}MiB", "--no-window", "--no-flight"]
    command += ["--record", recording, "--", python, HERE / "pool_replay_jax.py", *job.split()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    output = folder / "job.csv"
    subprocess.run([hbmscope, "export", recording, "--to", "csv", "--what", "events", "-o", output], check=True, capture_output=True)
    with open(output, newline="") as file:
        return list(csv.DictReader(file))


def has_two_ends(hbmscope, folder):
    """Whether the recording says that of the pool."""
    done = subprocess.run([hbmscope, "report", folder / "job.hbm", "--json", "--metrics"], check=True, capture_output=True, text=True)
    [heap] = [heap for heap in json.loads(done.stdout)["heaps"] if heap["name"] == POOL]
    return heap["metrics"]["largest_fit"]["upper_end_bytes"] is not None


class Stream:
    """The events of the pool as a stream of requests (app/cli/dry_run/README.md)."""

    def __init__(self, config):
        self.lines = [{"config": config}]
        self.bases = []
        self.sizes = []
        self.live = {}  # Address -> id.
        self.ids = 0
        self.refused = []  # By the driver, since the last answer.
        self.figures = {}  # That the pool has reported.

    def add_refusals(self, bytes_requested, is_served):
        """XLA tries again, for ten seconds, and each try begins with the largest size. All but the last one failed."""
        tries = [[]]
        for size in self.refused:
            if tries[-1] and size > tries[-1][-1]:
                tries.append([])
            tries[-1].append(size)
        self.refused = []
        for number, sizes in enumerate(tries):
            if number > 0:
                self.add_request(bytes_requested, ["oom"])
            self.lines += [{"suballoc_fail": size} for size in sizes]
        if not is_served:
            self.add_request(bytes_requested, ["oom"])

    def add_request(self, size, answer):
        self.ids += 1
        self.lines.append(["a", self.ids, size, *answer])

    def add(self, event, next_alloc):
        kind, address = event["kind"], int(event["address"] or "0", 0)
        size = int(event["size_bytes"] or 0)
        if kind == "driver_refusal":
            self.refused.append(int(event["requested_bytes"]))
        elif event["heap"] != POOL:
            return
        elif kind == "region_grow":
            self.add_refusals(next_alloc, True)
            self.lines.append({"region": len(self.bases), "size": size, "asked": size, "base": hex(address)})
            self.bases.append(address)
            self.sizes.append(size)
        elif kind == "alloc":
            self.add_refusals(int(event["requested_bytes"]), True)
            (region,) = [i for i, base in enumerate(self.bases) if 0 <= address - base < self.sizes[i]]
            self.add_request(int(event["requested_bytes"]), [region, address - self.bases[region], size])
            self.live[address] = self.ids
        elif kind == "free":
            self.lines.append(["f", self.live.pop(address)])
        elif kind in ("out_of_memory", "alloc_refused", "refusal"):
            self.add_refusals(int(event["requested_bytes"]), False)
        elif kind == "counter":
            self.figures[event["text"]] = int(event["value"])
        elif kind not in ("heap_gone",):
            sys.exit(f"a {kind} of the pool is unknown here")


def stream_from(events, config):
    stream = Stream(config)
    requests = [int(event["requested_bytes"] or 0) if event["heap"] == POOL and event["kind"] == "alloc" else None for event in events]
    following = None
    for at in reversed(range(len(requests))):  # Of each event: the request that follows it.
        following = requests[at] if requests[at] is not None else following
        requests[at] = following
    for event, request in zip(events, requests):
        stream.add(event, request)
    return stream


def limit_bytes(device_mib, variables, granularity):
    """A float32 of JAX's fraction, of the device's memory (allocator/reference/catalog/README.md)."""
    import struct

    (fraction,) = struct.unpack("f", struct.pack("f", float(variables.get("XLA_PYTHON_CLIENT_MEM_FRACTION", ".75"))))
    limit = int(device_mib * MIB * fraction)
    return -(-limit // granularity) * granularity


def replay(hbmscope, python, version, job, device_mib, variables, folder):
    events = record(hbmscope, python, job, device_mib, variables, folder)
    granularity = 1 if version == "classic" else 2 * MIB
    config = {"total_bytes": limit_bytes(device_mib, variables, granularity), "granularity": granularity, "recorded_driver": 1}
    config["allow_growth"] = int("XLA_PYTHON_CLIENT_PREALLOCATE" in variables)
    stream = stream_from(events, config)
    if stream.figures != {"limit_bytes": config["total_bytes"], "device_bytes": device_mib * MIB}:
        sys.exit(f"the pool reports {stream.figures}, and should {config['total_bytes']} of {device_mib} MiB")
    if version.startswith("spatial") and config["allow_growth"]:
        version = "classic_align"
    if has_two_ends(hbmscope, folder) != version.startswith("spatial"):
        sys.exit(f"the recording is wrong about the ends of the pool ({version})")
    path = folder / "requests.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in stream.lines))
    done = subprocess.run([hbmscope, "replay", path, "--version", version, "--check", "--json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(done.stderr)
    check = json.loads(done.stdout)["check"]
    refused = sum(1 for line in stream.lines if isinstance(line, list) and line[-1] == "oom")
    print(f"{job}, {device_mib} MiB, {variables}: {check['answers']} operations ({refused} refused), {check['region_events']} regions and refusals of the driver", flush=True)
    if check["first_difference"]:
        print(f"  first difference: {check['first_difference']}")
        print("  " + path.read_text().splitlines()[check["first_difference"]["line"] - 1])
    is_compared = check["answers"] > 100 and check["requests_without_answer"] == 0
    if "oom" in job or "fill" in job:
        is_compared = is_compared and refused > 0
    return check["agrees"] and is_compared, check["answers"]


def main():
    hbmscope, python, version = sys.argv[1:]
    total, are_equal = 0, True
    for job, device_mib, variables in JOBS:
        with tempfile.TemporaryDirectory() as name:
            is_equal, count = replay(hbmscope, python, version, job, device_mib, variables, pathlib.Path(name))
        total += count
        are_equal = are_equal and is_equal
    print(f"{total} operations, {'all equal' if are_equal else 'NOT EQUAL'}")
    sys.exit(0 if are_equal else 1)


if __name__ == "__main__":
    main()
