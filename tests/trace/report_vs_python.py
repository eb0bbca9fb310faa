#!/usr/bin/env python3
"""`hbmscope report --json` of traces beside Python's own sums.

    report_vs_python.py HBMSCOPE

Real snapshots, snapshots of an allocator that is known at every moment (torch_allocator.py), and made-up logs of RMM
(rmm_log.py): what lives at a moment, events, failures. questions_vs_python.py asks for more.
"""

import base64
import gzip
import json
import pathlib
import pickle
import random
import subprocess
import tempfile

import rmm_log
import torch_allocator
from vs_python import HBMSCOPE, expect, finish, real_snapshots, report

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")


def heaps_at_end(snapshot):
    heaps = {}
    for segment in snapshot["segments"]:
        name = torch_allocator.heap_name_of(segment)
        heap = heaps.setdefault(name, dict.fromkeys(("in_use_bytes", "requested_bytes", "pool_bytes", "live_blocks"), 0))
        heap["pool_bytes"] += segment["total_size"]
        heap["in_use_bytes"] += segment["active_size"]
        for block in segment["blocks"]:
            if block["state"] in ACTIVE:
                heap["requested_bytes"] += block.get("requested_size", block["size"])
                heap["live_blocks"] += 1
    return heaps


# As torch/cuda/_memory_viz.py writes it.
PAGE = """
<!DOCTYPE html>
<html>
<head>
</head>
<body>
<script type="module">
import {add_local_files} from "https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js"
const local_files = $SNAPSHOT
add_local_files(local_files, 'Active Memory Timeline')
</script>
</body>
"""


def page_of(snapshot):
    data = pickle.dumps(snapshot)
    data += b"\x00" * (3 - len(data) % 3)
    files = [{"name": "snapshot.pickle", "base64": base64.b64encode(data).decode()}]
    return PAGE.replace("$SNAPSHOT", json.dumps(files)).encode()


# The same snapshot in other forms is the same report, apart from the file's name.
def check_other_forms(file, snapshot, answer):
    def without_file(one):
        return {key: value for key, value in one.items() if key not in ("file", "files", "inputs")}

    page = page_of(snapshot)
    forms = {"json": json.dumps(snapshot).encode(), "indented.json": json.dumps(snapshot, indent=2).encode(),
             "html": page, "html.gz": gzip.compress(page)}
    with tempfile.TemporaryDirectory() as folder:
        for ending, data in forms.items():
            other = pathlib.Path(folder) / f"{file.stem}.{ending}"
            other.write_bytes(data)
            expect(other.name, "report", without_file(answer), without_file(report(other)))


# Blocks that were live before the first entry: the end with all entries undone; for each block only the facts in the
# entries.
def live_at_start(snapshot):
    live = {}
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] in ACTIVE:
                live[block.get("address", address)] = block.get("requested_size", block["size"])
            address += block["size"]
    for trace in snapshot["device_traces"]:
        for entry in reversed(trace):
            if entry["action"] == "alloc":
                del live[entry["addr"]]
            elif entry["action"] == "free_completed":
                live[entry["addr"]] = entry["size"]
    return live


def check_real(file):
    with open(file, "rb") as stream:
        snapshot = pickle.load(stream)
    answer = report(file)
    wanted = heaps_at_end(snapshot)
    got = {heap["name"]: heap for heap in answer["heaps"]}
    expect(file.name, "heaps", sorted(wanted), sorted(got))
    for name, heap in wanted.items():
        for key, value in heap.items():
            expect(file.name, f"{name} {key}", value, got.get(name, {}).get(key))
        expect(file.name, f"{name} pool = in use + free", got[name]["pool_bytes"], got[name]["in_use_bytes"] + got[name]["free_bytes"])
    actions = [entry["action"] for trace in snapshot["device_traces"] for entry in trace]
    expect(file.name, "events", len(actions), answer["events"]["total"])
    expect(file.name, "alloc", actions.count("alloc"), answer["events"]["alloc"])
    expect(file.name, "free", actions.count("free_completed"), answer["events"]["free"])
    expect(file.name, "oom", actions.count("oom"), answer["events"]["oom"])
    expect(file.name, "failures", actions.count("oom"), len(answer["failures"]))
    expect(file.name, "losses", [], problems_of(answer))
    start = report(file, "--at", "start")["heaps"]
    live = live_at_start(snapshot)
    expect(file.name, "blocks at the start", len(live), sum(heap["live_blocks"] for heap in start))
    expect(file.name, "requested at the start", sum(live.values()), sum(heap["requested_bytes"] for heap in start))
    check_other_forms(file, snapshot, answer)
    check_recording(file, answer)


def check_recording(file, answer):
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "x.hbm"
        subprocess.run([HBMSCOPE, "convert", str(file), "-o", str(recording)], check=True, capture_output=True)
        again = report(recording)
        for key in ("heaps", "events", "failures", "rows", "own_code", "moment"):
            expect(file.name, f"{key} of its recording", answer[key], again[key])
        expect(file.name, "a second file beside the recording", [recording], list(pathlib.Path(folder).iterdir()))
        link = pathlib.Path(folder) / "link.hbm"
        link.symlink_to(recording)
        subprocess.run([HBMSCOPE, "convert", str(file), "-o", str(link)], check=True, capture_output=True)
        expect(file.name, "a link stays a link", True, link.is_symlink())
    if pathlib.Path("/dev/full").is_char_device():
        full = subprocess.run([HBMSCOPE, "convert", str(file), "-o", "/dev/full"], capture_output=True, text=True)
        expect(file.name, "exit code of a full disk", 3, full.returncode)
        expect(file.name, "a device is written to, not replaced", True, pathlib.Path("/dev/full").is_char_device())


# A peak that may be higher, because nothing shows where a block from before the first entry ends, is no mistake.
def problems_of(answer):
    return [name for name in rows_by_severity(answer, "warning", "loss") if name != "uncertain_sizes"]


def check_made_up(seed, steps, history, devices):
    chance = random.Random(seed)
    allocators = []
    for device in range(devices):
        allocator = torch_allocator.TorchAllocator(device, 0x7F0000000000 + (device << 42), history)
        torch_allocator.play(allocator, chance, steps, torch_allocator.make_stacks(chance))
        allocators.append(allocator)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"seed {seed}.pickle"
        with open(file, "wb") as stream:
            pickle.dump(torch_allocator.snapshot_of(allocators), stream, protocol=2 + seed % 4)
        answer = report(file)
        for allocator in allocators:
            check_moment(file.name, "the end", allocator.kept_moments()[-1], answer, allocator.device)
        expect(file.name, "contradictions", [], problems_of(answer))
        check_recording(file, answer)
        if devices > 1:
            return
        moments = allocators[0].kept_moments()
        expect(file.name, "moments", len(moments) - 1, answer["events"]["total"])
        # Exact even if the history's ring buffer has lost the beginning: sizes of blocks follow from their
        # surroundings.
        for number in sorted(chance.sample(range(len(moments)), min(12, len(moments)))) + [0]:
            check_moment(file.name, f"#{number}", moments[number], report(file, "--at", f"#{number}"), 0)
        expect(file.name, "peak", max(moment["in_use_bytes"] for moment in moments), answer["heaps"][0]["peak_in_use_bytes"])
        check_failures(file.name, allocators[0], answer)


def check_moment(name, when, wanted, answer, device):
    heap = next(heap for heap in answer["heaps"] if heap["device"] == device)
    for key in wanted:
        expect(name, f"{key} at {when}", wanted[key], heap[key])
    if wanted["free_bytes"] == 0:
        expect(name, f"fragmentation with nothing free at {when}", None, heap["external_fragmentation"])


def check_failures(name, allocator, answer):
    wanted = [
        (entry["size"], entry["device_free"], moment["requested_bytes"])
        for entry, moment in zip(allocator.kept_entries(), allocator.kept_moments())
        if entry["action"] == "oom"
    ]
    got = [(failure["asked_bytes"], failure["available_bytes"]) for failure in answer["failures"]]
    expect(name, "failures", [row[:2] for row in wanted], got)


def report_made_up(name, snapshot, *options):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"{name}.pickle"
        with open(file, "wb") as stream:
            pickle.dump({"allocator_settings": {}, **snapshot}, stream)
        return [report(file, *option) for option in ([], *options)]


def rows_by_severity(answer, *severities):
    return {row["name"]: row for row in answer["import"] if row["severity"] in severities}


# Addresses that belonged to one pool and now belong to another: every heap has its own at all times.
def check_pools(seed, steps, history, reports_pools):
    allocator, chance = torch_allocator.PooledAllocator(reports_pools=reports_pools), random.Random(seed)
    allocator.play(chance, steps)
    moments = allocator.moments if history is None else allocator.moments[-history - 1 :]
    numbers = [0, *sorted(chance.sample(range(len(moments)), 10))]
    answers = report_made_up("pools", allocator.snapshot(history), *(["--at", f"#{number}"] for number in numbers))
    for when, moment, answer in zip(["end", *numbers], [moments[-1], *(moments[i] for i in numbers)], answers):
        heaps = {heap["name"]: heap for heap in answer["heaps"]}
        for name, heap in moment.items():
            for key, value in heap.items():
                # A pool that the snapshot does not have is no heap.
                expect(f"pools {seed}", f"{name} {key} at {when}", value, heaps.get(name, {key: 0})[key])
    expect(f"pools {seed}", "contradictions", {}, rows_by_severity(answers[0], "warning", "loss"))
    expect(f"pools {seed}", "events", len(moments) - 1, answers[0]["events"]["total"])


# Impossible traces: the end is still that of the snapshot, or the import reports the difference.
def check_contradictions():
    mib, address = torch_allocator.MIB, 0x10000000
    entry, segment = torch_allocator.made_up_entry, torch_allocator.made_up_segment
    over = {
        "segments": [segment(address, 20 * mib, [(address, 4 * mib)])],
        "device_traces": [[entry("alloc", address, 10 * mib, 1), entry("alloc", address, 4 * mib, 2)]],
    }
    end, first = report_made_up("over", over, ["--at", "#1"])
    for when, answer, size in (("the end", end, 4 * mib), ("#1", first, 10 * mib)):
        expect("alloc over a live address", f"bytes at {when}", size, answer["heaps"][0]["in_use_bytes"])
        expect("alloc over a live address", f"blocks at {when}", 1, answer["heaps"][0]["live_blocks"])
        expect("alloc over a live address", f"pool at {when}", 20 * mib, answer["heaps"][0]["pool_bytes"])
    expect("alloc over a live address", "losses", {}, rows_by_severity(end, "loss"))
    expect("alloc over a live address", "warnings", ["contradiction"], list(rows_by_severity(end, "warning")))

    never_freed = {
        "segments": [segment(address, 20 * mib, [(address, 4 * mib)])],
        "device_traces": [[entry("alloc", address + 8 * mib, 2 * mib, 1), entry("alloc", address, 4 * mib, 2)]],
    }
    name = "a block that is gone without a free"
    answer, before, last, peak = report_made_up("never freed", never_freed, *(["--at", at] for at in ("#1", "#2", "peak")))
    losses = rows_by_severity(answer, "loss")
    # The end is that of the snapshot; everything before it, and so the peak, is inexact.
    at_end, at_first = answer["heaps"][0], before["heaps"][0]
    expect(name, "exactness", [False, True, True], [at_end["is_inexact"], at_end["peak_is_inexact"], at_first["is_inexact"]])
    expect(name, "the end", [4 * mib, 1, 20 * mib], [at_end[key] for key in ("in_use_bytes", "live_blocks", "pool_bytes")])
    expect(name, "the peak", 6 * mib, at_end["peak_in_use_bytes"])
    expect(name, "before the end", 2 * mib, at_first["in_use_bytes"])
    for when, moment in (("the last entry", last), ("the peak", peak)):  # The listing is a separate point in time.
        expect(name, f"in use at {when}", [6 * mib, True], [moment["heaps"][0][key] for key in ("in_use_bytes", "is_inexact")])
    expect(name, "losses", ["end_contradicts_snapshot"], list(losses))
    text = (
        "GPU 0: followed to the end the trace has 2 blocks of 6,291,456 B in segments of 20,971,520 B, "
        "the snapshot 1 block of 4,194,304 B in segments of 20,971,520 B"
    )
    expect(name, "text", text, losses.get("end_contradicts_snapshot", {}).get("example"))


# The peak is inexact even if it is at the end; inconsistent tables leave the end inexact.
def check_inexact_ends():
    mib, address = torch_allocator.MIB, 0x10000000
    entry, segment = torch_allocator.made_up_entry, torch_allocator.made_up_segment
    grown = {
        "segments": [segment(address, 20 * mib, [(address, 2 * mib), (address + 4 * mib, 10 * mib)])],
        "device_traces": [[entry("free_completed", address, 2 * mib, 1), entry("alloc", address + 4 * mib, 10 * mib, 2)]],
    }
    heap = report_made_up("grown", grown)[0]["heaps"][0]
    wanted = {"in_use_bytes": 12 * mib, "peak_in_use_bytes": 12 * mib, "is_inexact": False, "peak_is_inexact": True}
    expect("a free that is not one", "the end", wanted, {key: heap[key] for key in wanted})

    twice = {"segments": [segment(address, 20 * mib, [(address, 4 * mib)]) for _ in range(2)], "device_traces": [[]]}
    answer = report_made_up("twice", twice)[0]
    losses = list(rows_by_severity(answer, "loss"))
    expect("a segment that is there twice", "losses", ["end_contradicts_snapshot", "tables_contradict_themselves"], losses)
    expect("a segment that is there twice", "exactness", True, answer["heaps"][0]["is_inexact"])


# Entries without a time, and with times that can't be, have that of the entry before them.
def check_times():
    mib, address, now = torch_allocator.MIB, 0x10000000, 1_700_000_000_000_000
    entry, segment = torch_allocator.made_up_entry, torch_allocator.made_up_segment
    segments = [segment(address, 2 * mib, [(address, 2 * mib)], device=device) for device in (0, 1)]
    oom = lambda time_us: entry("oom", 0, 5, time_us, device_free=3)
    for name, first, second in (
        ("one device without times", [None] * 3, [now, now + 500, None]),
        ("impossible times", [1 << 62, -5, -(1 << 62)], [now, now + 500, 1 << 62]),
    ):
        traces = [[entry("alloc", address, 2 * mib, times[0]), *map(oom, times[1:])] for times in (first, second)]
        answer = report_made_up(name, {"segments": segments, "device_traces": traces})[0]
        times = [failure["since_start_ns"] for failure in answer["failures"]]
        expect(name, "times of failures", [0, 0, 500_000, 500_000], times)
        warnings = {key: row["count"] for key, row in rows_by_severity(answer, "warning", "loss").items()}
        expect(name, "warnings", {"impossible_time": 4} if first[0] else {}, warnings)


def check_rmm_moment(name, when, live, answer):
    heap = answer["heaps"][0]
    expect(name, f"in_use_bytes at {when}", sum(live.values()), heap["in_use_bytes"])
    expect(name, f"live_blocks at {when}", len(live), heap["live_blocks"])
    # In-use bytes are the requested bytes; block sizes are unknown.
    expect(name, f"requested_bytes at {when}", sum(live.values()), heap["requested_bytes"])
    for key in ("pool_bytes", "free_bytes", "largest_free_bytes", "external_fragmentation",
                "internal_fragmentation"):
        expect(name, f"{key} at {when}", None, heap[key])


def check_rmm(seed, rows):
    chance = random.Random(seed)
    lines, moments, failures, times_us = rmm_log.make_rmm_log(chance, rows)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"seed {seed}.csv"
        log = chance.choice(("\n", "\r\n")).join(["Thread,Time,Action,Pointer,Size,Stream", *lines, ""]).encode()
        file.write_bytes(gzip.compress(log) if seed % 3 == 0 else log)
        answer = report(file)
        expect(file.name, "format", "rmm", answer["format"])
        expect(file.name, "heaps", ["RMM"], [heap["name"] for heap in answer["heaps"]])
        check_rmm_moment(file.name, "the end", moments[-1], answer)
        peak = max(sum(moment.values()) for moment in moments)
        expect(file.name, "peak", peak, answer["heaps"][0]["peak_in_use_bytes"])
        for key, action in (("alloc", "allocate"), ("free", "free"), ("oom", "allocate failure")):
            expect(file.name, key, sum(f",{action}," in line for line in lines), answer["events"][key])
        expect(file.name, "events", rows, answer["events"]["total"])
        expect(file.name, "failures", failures, [failure["asked_bytes"] for failure in answer["failures"]])
        counts = {row["name"]: row["count"] for row in answer["import"] if row["severity"] in ("warning", "loss")}
        unknown = sum(",free,0x7e" in line for line in lines)
        expect(file.name, "warnings", {"unknown_frees": unknown} if unknown else {}, counts)
        for number in chance.sample(range(rows + 1), min(rows + 1, 5)):
            check_rmm_moment(file.name, f"#{number}", moments[number], report(file, "--at", f"#{number}"))
        if len(set(times_us)) > 1:  # Else there is no time to ask for.
            time = chance.choice(times_us)
            live = moments[sum(other <= time for other in times_us)]
            check_rmm_moment(file.name, f"{time} us", live, report(file, "--at", f"{time}us"))
        check_recording(file, answer)


def main():
    for seed in range(12):
        check_made_up(seed, 400, None, 1)
    for seed in range(12, 24):
        check_made_up(seed, 400, 300, 1)
    check_made_up(24, 200, None, 3)
    check_made_up(25, 200, 150, 2)
    for seed in range(16):
        check_pools(seed, 300, (None, 120)[seed % 2], seed % 4 > 1)
    check_contradictions()
    check_inexact_ends()
    check_times()
    for seed in range(8):
        check_rmm(seed, (0, 1, 20, 500)[seed % 4])
    files = real_snapshots()
    for file in files:
        check_real(file)
    finish(f"{len(files)} real and 46 made-up snapshots, 8 made-up logs of RMM")


main()
