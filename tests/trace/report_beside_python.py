#!/usr/bin/env python3
"""`hbmscope report --json` of traces beside Python's own sums.

    report_beside_python.py HBMSCOPE

Every file of $HBMSCOPE_DATA/torch (default ../shared/data next to the checkout), and snapshots of an allocator that is
known at every moment (torch_allocator.py). Logs of RMM are made up here: a row is an event, and every moment a sum.
Exits with 1 and says what differs.
"""

import gzip
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile

import naive_metrics
import torch_allocator

HBMSCOPE = sys.argv[1]
ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
faults = []


def expect(where, what, wanted, got):
    if wanted != got:
        faults.append(f"{where}: {what}: Python says {wanted}, hbmscope {got}")


def report(file, *options):
    top = () if "--top" in options else ("--top", "1")
    done = subprocess.run([HBMSCOPE, "report", str(file), "--json", *top, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"report {file} {' '.join(options)}: {done.stderr}")
    return json.loads(done.stdout)


def heap_name_of(segment):
    return torch_allocator.heap_name(segment["device"], tuple(segment.get("segment_pool_id", (0, 0))))


def heaps_at_end(snapshot):
    heaps = {}
    for segment in snapshot["segments"]:
        heap = heaps.setdefault(heap_name_of(segment), dict.fromkeys(("in_use_bytes", "requested_bytes", "pool_bytes", "live_blocks"), 0))
        heap["pool_bytes"] += segment["total_size"]
        heap["in_use_bytes"] += segment["active_size"]
        for block in segment["blocks"]:
            if block["state"] in ACTIVE:
                heap["requested_bytes"] += block.get("requested_size", block["size"])
                heap["live_blocks"] += 1
    return heaps


# What lived before the first entry: the end with all entries taken back; of each block only what the entries tell.
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
    check_real_metrics(file, snapshot)
    sums = {total["type"]: total["value"] for total in report(file, "--value", "allocated")["totals"]}
    allocs = [entry for trace in snapshot["device_traces"] for entry in trace if entry["action"] == "alloc"]
    expect(file.name, "allocations", len(allocs), sums.get("allocated_blocks"))
    asked = sum(entry["size"] for entry in allocs)
    if not asked <= sums["allocated_space"] <= asked + 20 * torch_allocator.MIB * len(allocs):
        faults.append(f"{file.name}: {asked} were asked for, {sums['allocated_space']} allocated")
    actions = [entry["action"] for trace in snapshot["device_traces"] for entry in trace]
    expect(file.name, "events", len(actions), answer["events"]["total"])
    expect(file.name, "alloc", actions.count("alloc"), answer["events"]["alloc"])
    expect(file.name, "free", actions.count("free_completed"), answer["events"]["free"])
    expect(file.name, "oom", actions.count("oom"), answer["events"]["oom"])
    expect(file.name, "failures", actions.count("oom"), len(answer["failures"]))
    expect(file.name, "losses", [], [row["name"] for row in answer["import"] if row["severity"] in ("warning", "loss")])
    start = report(file, "--at", "start")["heaps"]
    live = live_at_start(snapshot)
    expect(file.name, "blocks at the start", len(live), sum(heap["live_blocks"] for heap in start))
    expect(file.name, "requested at the start", sum(live.values()), sum(heap["requested_bytes"] for heap in start))
    check_recording(file, answer)


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


# What the end of a real snapshot tells: sizes, gaps; and lifetimes of what is allocated and freed in it.
def check_real_metrics(file, snapshot):
    answer = report(file, "--metrics")
    for name in heaps_at_end(snapshot):
        segments = [segment for segment in snapshot["segments"] if heap_name_of(segment) == name]
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


# `events`, `times_ns`: of the whole trace, see naive_metrics.py; `gaps` None: the source tells no regions.
def check_metrics(name, when, wanted, gaps, heap):
    metrics = heap["metrics"]
    for key, value in wanted.items():
        same = naive_metrics.close(value, metrics[key]) if key in naive_metrics.RATIOS else value == metrics[key]
        if not same:
            expect(name, f"{key} at {when}", value, metrics[key])
    expect(name, f"waste at {when}", heap["in_use_bytes"] - heap["requested_bytes"], metrics["rounding_waste_bytes"])
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


def diff(*arguments):
    done = subprocess.run([HBMSCOPE, "diff", *map(str, arguments), "--json", "--top", "0"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"diff {arguments}: {done.stderr}")
    return json.loads(done.stdout)


# Live blocks after so many entries: number of the entry -> stack and size.
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


# Blocks of two moments by their number; of two jobs by stack and size.
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
        answer = diff(file, second)
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


def live_stacks(allocator):
    return [block for segment in allocator.segments for block in segment if block.state != "inactive"]


# What was ever allocated, by the innermost function; live values are what they are without it.
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


def make_stacks(chance):
    files = ["/home/me/train.py", "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", "??"]
    frame = lambda: {"name": f"f{chance.randrange(30)}", "filename": chance.choice(files), "line": chance.randrange(1, 400)}
    return [[frame() for _ in range(chance.randint(1, 12))] for _ in range(20)]


def check_made_up(seed, steps, history, devices):
    chance = random.Random(seed)
    allocators = []
    for device in range(devices):
        allocator = torch_allocator.TorchAllocator(device, 0x7F0000000000 + (device << 42), history)
        torch_allocator.play(allocator, chance, steps, make_stacks(chance))
        allocators.append(allocator)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"seed {seed}.pickle"
        with open(file, "wb") as stream:
            pickle.dump(torch_allocator.snapshot_of(allocators), stream, protocol=2 + seed % 4)
        answer = report(file)
        for allocator in allocators:
            check_moment(file.name, "the end", allocator.kept_moments()[-1], answer, allocator.device, True)
        expect(file.name, "contradictions", [], [row["name"] for row in answer["import"] if row["severity"] in ("warning", "loss")])
        check_recording(file, answer)
        if devices > 1:
            return
        moments = allocators[0].kept_moments()
        expect(file.name, "moments", len(moments) - 1, answer["events"]["total"])
        # Sizes of blocks whose allocation is not in the history are derived with less: exact only where it is whole.
        is_whole = history is None
        for number in sorted(chance.sample(range(len(moments)), min(12, len(moments)))) + [0]:
            check_moment(file.name, f"#{number}", moments[number], report(file, "--at", f"#{number}"), 0, is_whole)
        if is_whole:
            check_torch_metrics(file, allocators[0], chance)
            check_allocated(file, allocators[0], chance)
            check_block_diff(file, allocators[0], chance)
            expect(file.name, "peak", max(moment["in_use_bytes"] for moment in moments), answer["heaps"][0]["peak_in_use_bytes"])
        check_failures(file.name, allocators[0], answer)


def check_moment(name, when, wanted, answer, device, is_exact):
    heap = next(heap for heap in answer["heaps"] if heap["device"] == device)
    keys = list(wanted) if is_exact else ["requested_bytes", "pool_bytes", "live_blocks"]
    for key in keys:
        expect(name, f"{key} at {when}", wanted[key], heap[key])
    if wanted["free_bytes"] == 0 and is_exact:
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


# Addresses that belonged to one pool and now belong to another: every heap has its own at every moment.
def check_pools(seed, steps, history):
    allocator, chance = torch_allocator.PooledAllocator(), random.Random(seed)
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


# Traces that can't be: the end is still what the snapshot says, or the import tells what it is instead.
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
    losses = rows_by_severity(report_made_up("never freed", never_freed)[0], "loss")
    expect(name, "losses", ["end_contradicts_snapshot"], list(losses))
    text = (
        "GPU 0: at the end the trace has 2 blocks of 6,291,456 B in segments of 20,971,520 B, "
        "the snapshot 1 blocks of 4,194,304 B in segments of 20,971,520 B"
    )
    expect(name, "text", text, losses.get("end_contradicts_snapshot", {}).get("example"))


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


# A log as RMM writes it, what lives after each of its rows, and their times. Once in a while a thread is late, a request
# fails and a block is freed that the log doesn't know; days end on the way.
def make_rmm_log(chance, rows):
    lines, moments, failures, times_us = [], [{}], [], []
    time_us = chance.randrange(24 * 3600) * 1_000_000
    threads, streams = [chance.randrange(1 << 47) for _ in range(3)], ["0x0", "0x1", "0x55d0c0a01020"]
    while len(lines) < rows:
        live = dict(moments[-1])
        time_us += chance.choice((0, 3, 250, 5_000_000, 3_600_000_000))
        told_us = time_us - (chance.randrange(40) if lines and chance.random() < 0.1 else 0)
        times_us.append(max(told_us, times_us[-1]) if lines else told_us)
        second, fraction = divmod(told_us % (24 * 3600 * 1_000_000), 1_000_000)
        action, size = "allocate", chance.randrange(1, 1 << 20)
        address = 0x7F0000000000 + chance.randrange(300) * 0x100000
        if chance.random() < 0.05:
            action, address, size = "allocate failure", "(nil)", chance.randrange(1, 1 << 40)
            failures.append(size)
        elif chance.random() < 0.02:
            action, address = "free", 0x7E0000000000 + chance.randrange(300) * 256
        elif address in live:
            action, size = "free", live.pop(address)
        else:
            live[address] = size
        place = address if address == "(nil)" else hex(address)
        stamp = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{fraction:06}"
        lines.append(f"{chance.choice(threads)},{stamp},{action},{place},{size},{chance.choice(streams)}")
        moments.append(live)
    return lines, moments, failures, [time - times_us[0] for time in times_us]


def check_rmm_moment(name, when, live, answer):
    heap = answer["heaps"][0]
    for key in ("in_use_bytes", "requested_bytes"):
        expect(name, f"{key} at {when}", sum(live.values()), heap[key])
    expect(name, f"live_blocks at {when}", len(live), heap["live_blocks"])
    for key in ("pool_bytes", "free_bytes", "largest_free_bytes", "external_fragmentation"):
        expect(name, f"{key} at {when}", None, heap[key])


def check_rmm(seed, rows):
    chance = random.Random(seed)
    lines, moments, failures, times_us = make_rmm_log(chance, rows)
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
        if rows > 0 and not unknown:
            events = [rmm_event(line) for line in lines]
            times_ns = [time * 1000 for time in times_us]
            wanted = naive_metrics.metrics(events, times_ns, rows, peak)
            if len(set(times_us)) > 1:
                check_metrics(file.name, "the end", wanted, None, report(file, "--metrics")["heaps"][0])
        check_recording(file, answer)


def rmm_event(line):
    _, _, action, address, size, _ = line.split(",")
    return {"allocate": ("alloc", address, int(size)), "free": ("free", address, int(size))}.get(action)


def main():
    for seed in range(12):
        check_made_up(seed, 400, None, 1)
    for seed in range(12, 24):
        check_made_up(seed, 400, 300, 1)
    check_made_up(24, 200, None, 3)
    check_made_up(25, 200, 150, 2)
    for seed in range(16):
        check_pools(seed, 300, (None, 120)[seed % 2])
    check_contradictions()
    check_times()
    for seed in range(8):
        check_rmm(seed, (0, 1, 20, 500)[seed % 4])
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("HBMSCOPE_DATA", root / "../shared/data")) / "torch"
    files = sorted(folder.glob("*.pickle"))
    if not files:
        print(f"only made-up snapshots: no real ones in {folder}; HBMSCOPE_DATA names the folder that has them")
    for file in files:
        check_real(file)
    if faults:
        sys.exit("\n".join(faults[:40]) + f"\n{len(faults)} differences")
    print(f"{len(files)} real and 46 made-up snapshots, 8 made-up logs of RMM: no difference")


main()
