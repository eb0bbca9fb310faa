#!/usr/bin/env python3
"""The questions asked of traces beside Python's own answers: metrics, what was allocated, blocks that changed, exports.

    questions_vs_python.py HBMSCOPE

Snapshots of an allocator that is known at every moment (torch_allocator.py), logs of RMM, and of real snapshots what
they tell themselves.
"""

import csv
import json
import pathlib
import pickle
import random
import subprocess
import tempfile

import naive_metrics
import rmm_log
import torch_allocator
from vs_python import HBMSCOPE, diff, expect, export, faults, finish, real_snapshots, report

ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")


# Free gaps of one device: neighbours are one, across segments only where both are expandable.
def gaps_of(segments):
    gaps, end, was_expandable = [], None, False
    for segment in sorted(segments, key=lambda segment: segment["address"]):
        address, is_first = segment["address"], True
        for block in segment["blocks"]:
            is_joined = not is_first or (was_expandable and segment["is_expandable"])
            if block["state"] == "inactive":
                if end == address and is_joined:
                    gaps[-1] += block["size"]
                else:
                    gaps.append(block["size"])
                end = address + block["size"]
            address, is_first = address + block["size"], False
        was_expandable = segment.get("is_expandable", False)
    return gaps


# Figures at the end of a real snapshot: sizes, gaps; and lifetimes of blocks allocated and freed in it.
def check_real_metrics(file, snapshot):
    answer = report(file, "--metrics")
    for name in sorted({torch_allocator.heap_name_of(segment) for segment in snapshot["segments"]}):
        segments = [segment for segment in snapshot["segments"] if torch_allocator.heap_name_of(segment) == name]
        live = [block["size"] for segment in segments for block in segment["blocks"] if block["state"] in ACTIVE]
        heap = next(heap for heap in answer["heaps"] if heap["name"] == name)
        metrics = heap["metrics"]
        for segment in segments:
            segment.setdefault("is_expandable", False)
        for key, sizes in (("live_sizes", live), ("free_gaps", gaps_of(segments))):
            expect(file.name, f"{name} {key}", naive_metrics.steps([(size, size) for size in sizes], "bytes"), metrics[key])
        expect(file.name, f"{name} largest fit", heap["largest_free_bytes"], metrics["largest_fit"]["bytes"])
        expect(file.name, f"{name} waste", heap["in_use_bytes"] - heap["requested_bytes"], metrics["rounding_waste_bytes"])
        expect(file.name, f"{name} peak", heap["peak_in_use_bytes"], metrics["peak_so_far"]["in_use_bytes"])
        expect(file.name, f"{name} high-water moments", True, 0 < len(metrics["high_water"]["moments"]) <= 32)
    lifetimes, older = {}, 0
    for trace in snapshot["device_traces"]:
        begun = {}
        for entry in trace:
            if entry["action"] == "alloc":
                begun[entry["addr"]] = entry.get("time_us", 0)
            elif entry["action"] == "free_completed" and entry["addr"] in begun:
                lived_ns = (entry.get("time_us", 0) - begun.pop(entry["addr"])) * 1000
                lifetimes[naive_metrics.step_of(lived_ns)] = lifetimes.get(naive_metrics.step_of(lived_ns), 0) + 1
            elif entry["action"] == "free_completed":
                older += 1
    got = {}
    for heap in answer["heaps"]:
        for step in heap["metrics"]["lifetime"]["by_time"] or []:
            k = naive_metrics.step_of(step["from_ns"])
            got[k] = got.get(k, 0) + step["count"]
    if any("time_us" in entry for trace in snapshot["device_traces"] for entry in trace):
        expect(file.name, "lifetimes", lifetimes, got)
    unknown = sum(heap["metrics"]["lifetime"]["unknown_count"] for heap in answer["heaps"])
    expect(file.name, "freed blocks from before the first entry", older, unknown)


# `events`, `times_ns`: for the whole trace, see naive_metrics.py; `gaps` None: the source reports no regions.
def check_metrics(name, when, wanted, gaps, heap):
    metrics = heap["metrics"]
    for key, value in wanted.items():
        same = naive_metrics.close(value, metrics[key]) if key in naive_metrics.RATIOS else value == metrics[key]
        if not same:
            expect(name, f"{key} at {when}", value, metrics[key])
    # RMM's log reports only requested sizes.
    waste = None if heap["name"] == "RMM" else heap["in_use_bytes"] - heap["requested_bytes"]
    expect(name, f"waste at {when}", waste, metrics["rounding_waste_bytes"])
    expect(name, f"gaps at {when}", gaps and naive_metrics.steps([(gap, gap) for gap in gaps], "bytes"), metrics["free_gaps"])
    fit = {"bytes": heap["largest_free_bytes"], "lower_end_bytes": None, "upper_end_bytes": None, "growth_bytes": None}
    expect(name, f"fit at {when}", fit, metrics["largest_fit"])


def check_torch_metrics(file, allocator, chance):
    kinds = {"alloc": "alloc", "free_completed": "free"}
    events = [
        (kinds[entry["action"]], entry["addr"], size) if entry["action"] in kinds else None
        for entry, size in zip(allocator.entries, allocator.sizes)
    ]
    times_ns = [entry["time_us"] * 1000 for entry in allocator.entries]
    peak = max(moment["in_use_bytes"] for moment in allocator.moments)
    for position in (len(events), chance.randrange(len(events))):
        answer = report(file, "--metrics", "--at", f"#{position}")
        wanted = naive_metrics.metrics(events, times_ns, position, peak)
        gaps = allocator.blocks_at[position][1]
        check_metrics(file.name, f"#{position}", wanted, gaps, answer["heaps"][0])


# Everything that was ever allocated, by the innermost function; live values are the same as without it.
def check_allocated(file, allocator, chance):
    position = chance.randrange(len(allocator.entries) + 1)
    wanted = {}
    for entry, size in zip(allocator.entries[:position], allocator.sizes):
        if entry["action"] == "alloc":
            key = (entry["frames"][0]["name"], entry["frames"][0]["filename"])
            count, total = wanted.get(key, (0, 0))
            wanted[key] = (count + 1, total + size)
    at = ("--at", f"#{position}", "--top", "0")
    answer = report(file, "--value", "allocated", *at)
    got = {(row["name"], row["file"]): (row["flat_count"], row["flat_bytes"]) for row in answer["rows"] if row["flat_count"] > 0}
    expect(file.name, f"allocated at #{position}", wanted, got)
    expect(file.name, "a row of nothing", [], [row for row in answer["rows"] if row["cum_count"] == 0])
    sums = {total["type"]: total["value"] for total in answer["totals"]}
    expect(file.name, "allocations", sum(count for count, _ in wanted.values()), sums["allocated_blocks"])
    expect(file.name, "allocated bytes", sum(size for _, size in wanted.values()), sums["allocated_space"])
    live = report(file, *at)
    expect(file.name, "rows of live values", live["rows"], report(file, "--value", "live", *at)["rows"])
    expect(file.name, "live bytes", allocator.moments[position]["in_use_bytes"], live["totals"][1]["value"])
    with tempfile.TemporaryDirectory() as folder:
        exported = pathlib.Path(folder) / "x.pb.gz"
        command = [HBMSCOPE, "export", str(file), "--to", "pprof", "-o", str(exported), "--value", "allocated", *at[:2]]
        subprocess.run(command, check=True)
        for value, rows in (("allocated", answer["rows"]), ("live", live["rows"])):
            expect(file.name, f"{value} values as pprof", rows, report(exported, "--value", value, "--top", "0")["rows"])
        expect(file.name, "values by default as pprof", answer["rows"], report(exported, "--top", "0")["rows"])
        folded = subprocess.run([HBMSCOPE, "export", str(file), "--to", "folded", *command[-4:]], capture_output=True, text=True)
        total = sum(int(line.rsplit(" ", 1)[1]) for line in folded.stdout.splitlines())
        expect(file.name, "allocated bytes as folded stacks", sums["allocated_space"], total)


def live_stacks(allocator):
    return [block for segment in allocator.segments for block in segment if block.state != "inactive"]


# Live blocks after that many entries: number of the entry -> stack and size.
def live_blocks(allocator, position):
    live = {}
    for number, (entry, size) in enumerate(zip(allocator.entries[:position], allocator.sizes)):
        if entry["action"] == "alloc":
            stack = tuple((frame["name"], frame["filename"]) for frame in entry["frames"])
            live[entry["addr"]] = (number, stack, size)
        elif entry["action"] == "free_completed":
            del live[entry["addr"]]
    return {number: (stack, size) for number, stack, size in live.values()}


def change(pairs):
    before, now = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return {"count": len(pairs), "baseline_bytes": before, "now_bytes": now, "delta_bytes": now - before}


def expect_changes(name, wanted, got):
    for key in ("new", "gone", "grown", "shrunk", "moved", "unchanged"):
        expect(name, f"{key} blocks", change(wanted.get(key, [])), got[key])
        rows = sum(row[key]["count"] for row in got["own_code"])
        if key != "unchanged":
            expect(name, f"{key} blocks by own code", len(wanted.get(key, [])), rows)


# Blocks at two times by their number; of two jobs by stack and size.
def check_block_diff(file, allocator, chance):
    first, last = sorted(chance.randrange(len(allocator.entries) + 1) for _ in range(2))
    before, now = live_blocks(allocator, first), live_blocks(allocator, last)
    answer = diff(file, "--from", f"#{first}", "--at", f"#{last}")
    wanted = {
        "new": [(0, size) for number, (_, size) in now.items() if number not in before],
        "gone": [(size, 0) for number, (_, size) in before.items() if number not in now],
        "unchanged": [(size, size) for number, (_, size) in now.items() if number in before],
    }
    expect_changes(f"{file.name} #{first} to #{last}", wanted, answer["blocks"])
    expect(file.name, "matched by", "id", answer["blocks"]["matched_by"])
    expect(file.name, "settings of one trace", [], answer["settings"])
    expect(file.name, "moments", [first, last], [answer[f"{side}_moment"]["streams"][0]["events"] for side in ("baseline", "now")])

    other = torch_allocator.TorchAllocator()
    torch_allocator.play(other, chance, 250, [list(stack) for stack in {id(b.stack): b.stack for b in live_stacks(allocator)}.values()])
    with tempfile.TemporaryDirectory() as folder:
        second = pathlib.Path(folder) / "other.pickle"
        with open(second, "wb") as stream:
            settings = {"allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "x:1", "expandable_segments": False, "new": 3}}
            pickle.dump({**torch_allocator.snapshot_of([other]), **settings}, stream)
        answer = diff(file, second, "--from", "end", "--at", "end")
    sizes = {}
    for side, blocks in enumerate((live_blocks(allocator, None), live_blocks(other, None))):
        for stack, size in blocks.values():
            sizes.setdefault(stack, ([], []))[side].append(size)
    wanted = {key: [] for key in ("new", "gone", "grown", "shrunk", "unchanged")}
    for before, now in sizes.values():
        for size in list(before):
            if size in now:
                before.remove(size)
                now.remove(size)
                wanted["unchanged"].append((size, size))
        before.sort(reverse=True)
        now.sort(reverse=True)
        for pair in zip(before, now):
            wanted["grown" if pair[1] > pair[0] else "shrunk"].append(pair)
        wanted["gone"] += [(size, 0) for size in before[len(now) :]]
        wanted["new"] += [(0, size) for size in now[len(before) :]]
    expect_changes(f"{file.name} and another", wanted, answer["blocks"])
    expect(file.name, "matched by", "stack and size", answer["blocks"]["matched_by"])
    settings = [
        {"key": "torch.allocator.PYTORCH_CUDA_ALLOC_CONF", "baseline": "", "now": "x:1"},
        {"key": "torch.allocator.new", "baseline": None, "now": "3"},
    ]
    expect(file.name, "settings", settings, answer["settings"])
    order = list(answer)
    expect(file.name, "settings come first", True, order.index("settings") < order.index("total"))


# Every event, and every block with when it came and went, as rows.
def check_csv(file, allocator, chance):
    position = chance.randrange(len(allocator.entries) + 1)
    start_us = allocator.entries[0]["time_us"]
    kinds = {"alloc": "alloc", "free_requested": "free_requested", "free_completed": "free", "segment_alloc": "region_grow"}
    kinds |= {"segment_free": "region_shrink", "oom": "out_of_memory"}
    rows = list(csv.DictReader(export(file, "--to", "csv", "--what", "events", "--at", f"#{position}").splitlines()))
    expect(file.name, "rows of events", position, len(rows))
    live, blocks = {}, []
    for number, (entry, size, row) in enumerate(zip(allocator.entries, allocator.sizes, rows)):
        kind, allocation = entry["action"], ""
        if kind == "alloc":
            live[entry["addr"]] = (number, size, entry["size"])
        if kind in ("alloc", "free_requested", "free_completed"):
            allocation, size = live[entry["addr"]][:2]
        if kind == "free_completed":
            blocks.append((*live.pop(entry["addr"]), number))
        wanted = {
            "stream": 0,
            "event": number,
            "time_ns": entry["time_us"] * 1000,
            "since_start_ns": (entry["time_us"] - start_us) * 1000,
            "kind": kinds[kind],
            "heap": "GPU 0",
            "address": "" if kind == "oom" else hex(entry["addr"]),
            "size_bytes": "" if kind == "oom" else entry["size"] if "segment" in kind else size,
            "requested_bytes": "" if "segment" in kind else entry["size"],
            "available_bytes": entry["device_free"] if kind == "oom" else "",
            "allocation_event": allocation,
        }
        if {key: str(value) for key, value in wanted.items()} != {key: row[key] for key in wanted}:
            expect(file.name, f"row {number}", wanted, row)
    blocks += [(*block, None) for block in live.values()]
    rows = list(csv.DictReader(export(file, "--to", "csv", "--what", "blocks", "--at", f"#{position}").splitlines()))
    time_of = lambda number: "" if number is None else str(allocator.entries[number]["time_us"] * 1000)
    wanted = [
        (str(begin), str(size), str(requested), time_of(begin), "" if end is None else str(end), time_of(end))
        for begin, size, requested, end in blocks
    ]
    keys = ("allocation_event", "size_bytes", "requested_bytes", "allocated_time_ns", "freed_event", "freed_time_ns")
    expect(file.name, "rows of blocks", sorted(wanted), sorted(tuple(row[key] for key in keys) for row in rows))
    states = [row["state"] for row in rows]
    expect(file.name, "freed blocks", sum(block[3] is not None for block in blocks), states.count("freed"))


# The same rows as objects, without unknown values.
def check_json_rows(file, allocator, chance):
    position = str(chance.randrange(len(allocator.entries) + 1))
    for table in ("events", "blocks"):
        rows = list(csv.DictReader(export(file, "--to", "csv", "--what", table, "--at", "#" + position).splitlines()))
        answer = json.loads(export(file, "--to", "json", "--what", table, "--at", "#" + position))
        wanted = [{key: value for key, value in row.items() if value} for row in rows]
        found = [{key: str(value) for key, value in row.items()} for row in answer[table]]
        expect(file.name, f"{table} as JSON", wanted, found)


# Counter tracks are always less than a step away from the correct value, and equal it at the end.
def check_perfetto(file, allocator, chance):
    position = chance.randrange(1, len(allocator.entries) + 1)
    step = chance.choice((1, 1 << 20, 1 << 23))
    trace = json.loads(export(file, "--to", "perfetto", "--step", str(step), "--at", f"#{position}"))
    expect(file.name, "step in the metadata", step, trace["otherData"]["heaps"][0]["counter_step_bytes"])
    start_us = allocator.entries[0]["time_us"]
    for name, key in (("GPU 0 in use", "in_use_bytes"), ("GPU 0 pool size", "pool_bytes")):
        points = [(event["ts"], event["args"]["bytes"]) for event in trace["traceEvents"] if event.get("name") == name]
        expect(file.name, "points in the order of time", points, sorted(points, key=lambda point: point[0]))
        expect(file.name, f"{name} changes", [], [1 for a, b in zip(points[:-1], points[1:-1]) if abs(a[1] - b[1]) < step])
        values = [moment[key] for moment in allocator.moments[: position + 1]]
        times = [0] + [entry["time_us"] - start_us for entry in allocator.entries[:position]]
        at, shown = 0, None
        for time, value, is_last in zip(times[1:], values[1:], [False] * (position - 1) + [True]):
            while at < len(points) and points[at][0] <= time:
                shown, at = points[at][1], at + 1
            if abs(shown - value) >= step or (is_last and shown != value):
                expect(file.name, f"{name} at {time} us with steps of {step}", value, shown)
    failures = [event["args"]["asked_bytes"] for event in trace["traceEvents"] if event.get("name") == "Out of memory"]
    wanted = [entry["size"] for entry in allocator.entries[:position] if entry["action"] == "oom"]
    expect(file.name, "failures for Perfetto", wanted, failures)


# The same heaps, events and figures of the user's code; paths keep only the part without a folder.
def check_stripped(file):
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "x.hbm"
        command = [HBMSCOPE, "convert", str(file), "-o", str(recording), "--strip-paths"]
        subprocess.run(command, check=True, capture_output=True)
        answer, stripped = (report(source, "--top", "0", "--own", "0", "--by", "line") for source in (file, recording))
        difference = diff(file, recording, "--from", "end", "--at", "end")
    for key in ("heaps", "events", "moment", "totals", "by_device", "by_kind"):
        expect(file.name, f"{key} of its recording without paths", answer[key], stripped[key])
    expect(file.name, "its stacks have partners without paths", 0, difference["unmatched_bytes"])
    counts = {name: difference["blocks"][name]["count"] for name in ("new", "gone", "grown", "shrunk", "unchanged")}
    live = sum(heap["live_blocks"] for heap in answer["heaps"])
    expect(file.name, "its blocks without paths", dict.fromkeys(counts, 0) | {"unchanged": live}, counts)
    sums = [{}, {}]
    for rows, source in zip(sums, (answer, stripped)):
        for row in source["own_code"]:
            base = None if row["file"] is None else row["file"].replace("\\", "/").rsplit("/", 1)[-1]
            key = (row["name"], base, row["line"], row["through"])
            rows[key] = rows.get(key, 0) + row["bytes"]
    expect(file.name, "own code without paths", *sums)
    allowed = ("…/", "…/site-packages/", "…/lib/python3/", "…/ipykernel_/", "")
    files = {row["file"] or "" for row in stripped["rows"] + stripped["own_code"]}
    wrong = [name for name in files if name.replace("\\", "/").rpartition("/")[0] + ("/" if "/" in name else "") not in allowed]
    expect(file.name, "folders that are left", [], wrong)
    expect(file.name, "files have names", True, len(files) > 5)


def check_real(file):
    with open(file, "rb") as stream:
        snapshot = pickle.load(stream)
    check_real_metrics(file, snapshot)
    check_stripped(file)
    sums = {total["type"]: total["value"] for total in report(file, "--value", "allocated")["totals"]}
    allocs = [entry for trace in snapshot["device_traces"] for entry in trace if entry["action"] == "alloc"]
    expect(file.name, "allocations", len(allocs), sums.get("allocated_blocks"))
    requested = sum(entry["size"] for entry in allocs)
    if not requested <= sums["allocated_space"] <= requested + 20 * torch_allocator.MIB * len(allocs):
        faults.append(f"{file.name}: {asked} were asked for, {sums['allocated_space']} allocated")


def check_made_up(seed, steps):
    chance, allocator = random.Random(seed), torch_allocator.TorchAllocator()
    torch_allocator.play(allocator, chance, steps, torch_allocator.make_stacks(chance))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"seed {seed}.pickle"
        with open(file, "wb") as stream:
            pickle.dump(torch_allocator.snapshot_of([allocator]), stream)
        for check in (check_torch_metrics, check_allocated, check_block_diff, check_csv, check_json_rows, check_perfetto):
            check(file, allocator, chance)


def check_rmm(seed, rows):
    lines, moments, _, times_us = rmm_log.make_rmm_log(random.Random(seed), rows)
    if any(",free,0x7e" in line for line in lines):
        return 0  # Frees of unknown blocks are another test's.
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"seed {seed}.csv"
        file.write_text("\n".join(["Thread,Time,Action,Pointer,Size,Stream", *lines, ""]))
        peak = max(sum(moment.values()) for moment in moments)
        events = [rmm_log.rmm_event(line) for line in lines]
        wanted = naive_metrics.metrics(events, [time * 1000 for time in times_us], rows, peak)
        check_metrics(file.name, "the end", wanted, None, report(file, "--metrics")["heaps"][0])
    return 1


def main():
    for seed in range(12):
        check_made_up(seed, 400)
    logs = sum(check_rmm(seed, (30, 60)[seed % 2]) for seed in range(16))
    files = real_snapshots()
    for file in files:
        check_real(file)
    finish(f"{len(files)} real and 12 made-up snapshots, {logs} made-up logs of RMM")


main()
