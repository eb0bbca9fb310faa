#!/usr/bin/env python3
"""Folders of traces as the ranks of one job: every answer about all of them is that about each, put together.

    ranks_vs_python.py HBMSCOPE

Snapshots of PyTorch whose device has the same name, and Kineto traces that begin at other times.
"""

import csv
import json
import pathlib
import pickle
import random
import subprocess
import tempfile

import torch_allocator
from vs_python import HBMSCOPE, diff, expect, export, finish, report

OWN_NAMES = ("stream", "file", "peak_in_use_bytes")


def make_snapshots(folder, count):
    for rank in range(count):
        chance, allocator = random.Random(rank), torch_allocator.TorchAllocator()
        torch_allocator.play(allocator, chance, 200 + 50 * rank, torch_allocator.make_stacks(chance))
        with open(folder / f"rank_{rank}.pickle", "wb") as stream:
            pickle.dump(torch_allocator.snapshot_of([allocator]), stream)


# Rank 1 began a second later, and its clock starts there.
def make_kineto(folder):
    for rank in range(2):
        event = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7}
        args = {"Device Id": rank, "Device Type": 1, "Total Reserved": 1 << 20, "Total Allocated": 512, "Bytes": 512}
        events = [{**event, "ts": 1000.0 + 500 * i, "args": {**args, "Addr": 4096 * (i + 1), "Ev Idx": i}} for i in range(3)]
        base = 1_759_000_000_000_000_000 + rank * 1_000_000_000
        trace = {"schemaVersion": 1, "baseTimeNanoseconds": base, "traceEvents": events}
        (folder / f"worker{rank}.17.pt.trace.json").write_text(json.dumps(trace))


def check_snapshots(folder, count):
    make_snapshots(folder, count)
    files = sorted(folder.glob("*.pickle"))
    together, alone = report(folder), [report(file) for file in files]
    expect("ranks", "format", "torch", together["format"])
    heaps = [heap for answer in alone for heap in answer["heaps"]]
    expect("ranks", "files of the heaps", [str(file) for file in files], [heap["file"] for heap in together["heaps"]])
    for wanted, got in zip(heaps, together["heaps"]):
        for key in wanted.keys() - set(OWN_NAMES) | {"peak_in_use_bytes"}:
            expect(got["file"], key, wanted[key], got[key])
    for key, value in together["events"].items():
        expect("ranks", f"events {key}", sum(answer["events"][key] for answer in alone), value)
    expect("ranks", "failures", sum(len(answer["failures"]) for answer in alone), len(together["failures"]))
    totals = [sum(answer["totals"][i]["value"] for answer in alone) for i in range(2)]
    expect("ranks", "totals", totals, [total["value"] for total in together["totals"]])
    devices = {f"GPU 0 ({file.name})": answer["totals"][1]["value"] for file, answer in zip(files, alone)}
    expect("ranks", "devices", devices, {row["device"]: row["bytes"] for row in together["by_device"]})
    # The rank with the highest peak has it then.
    best = max(range(count), key=lambda rank: heaps[rank]["peak_in_use_bytes"])
    peak = report(folder, "--at", "peak")["heaps"][best]
    expect("ranks", "in use at the peak", heaps[best]["peak_in_use_bytes"], peak["in_use_bytes"])
    rows = list(csv.DictReader(export(folder, "--to", "csv", "--what", "blocks").splitlines()))
    for rank, file in enumerate(files):
        mine = list(csv.DictReader(export(file, "--to", "csv", "--what", "blocks").splitlines()))
        of_rank = [row for row in rows if row["stream"] == str(rank)]
        expect(file.name, "rows of blocks", mine, [{**row, "stream": "0"} for row in of_rank])
    allocated = [report(source, "--value", "allocated")["totals"][3]["value"] for source in (folder, *files)]
    expect("ranks", "allocated bytes", allocated[0], sum(allocated[1:]))
    metrics = report(folder, "--metrics")["heaps"]
    for file, got in zip(files, metrics):
        expect(file.name, "metrics", report(file, "--metrics")["heaps"][0]["metrics"], got["metrics"])
    compared = diff(folder)
    expect("ranks", "a folder is compared from its first to its last", str(files[0]), compared["baseline"])
    refused = subprocess.run([HBMSCOPE, "convert", str(folder), "-o", str(folder / "x.hbm")], capture_output=True, text=True)
    expect("ranks", "convert of a folder", (3, True), (refused.returncode, "one by one" in refused.stderr))
    expect("ranks", "and no file of it", False, (folder / "x.hbm").exists())


def check_kineto(folder):
    make_kineto(folder)
    answer = report(folder)
    heaps = {heap["name"]: (heap["in_use_bytes"], heap["live_blocks"]) for heap in answer["heaps"]}
    expect("workers", "heaps", {"CUDA 0": (1536, 3), "CUDA 1": (1536, 3)}, heaps)
    expect("workers", "names", ["CUDA 0", "CUDA 1"], sorted(row["device"] for row in answer["by_device"]))
    totals = {(row["name"], row["heap"]): row["value"] for row in answer["counters"]}
    expect("workers", "counters", 512, totals[("total_allocated", "CUDA 1")])
    # 0.8 ms after the first event two of worker 0's three events have been, and none of worker 1's.
    at = {heap["name"]: heap["live_blocks"] for heap in report(folder, "--at", "800us")["heaps"]}
    expect("workers", "blocks at 800 us", {"CUDA 0": 2, "CUDA 1": 0}, at)
    trace = json.loads(export(folder, "--to", "perfetto"))
    names = [event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"]
    wanted = [f"worker{rank}.17.pt.trace.json, stream {rank}" for rank in range(2)]
    expect("workers", "tracks", wanted, names)
    times = [event["ts"] for event in trace["traceEvents"] if event.get("name") == "CUDA 1 in use"]
    expect("workers", "times on one axis", [0, 1_000_000.0, 1_000_500.0, 1_001_000.0], times)
    done = subprocess.run([HBMSCOPE, "check", str(folder), "--json"], capture_output=True, text=True)
    expect("workers", "check", ["kineto", "kineto"], [file["format"] for file in json.loads(done.stdout)["files"]])


def main():
    with tempfile.TemporaryDirectory() as name:
        snapshots, traces = pathlib.Path(name) / "snapshots", pathlib.Path(name) / "traces"
        snapshots.mkdir()
        traces.mkdir()
        check_snapshots(snapshots, 3)
        check_kineto(traces)
    finish("3 snapshots and 2 Kineto traces")


main()
