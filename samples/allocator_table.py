#!/usr/bin/env python3
"""Replays one workload under the settings in JAX's page on GPU memory allocation and prints a table; each row is a command.

    samples/allocator_table.py build/release/app/hbmscope

`samples/README.md` has the table; a test compares it.
"""
import json
import subprocess
import sys

WORKLOAD = ["samples/training.requests.jsonl", "--device-bytes", "1GiB"]
MIB = 1 << 20
LINES = [
    ("preallocated, .75 (default)", ["--set", "XLA_CLIENT_MEM_FRACTION=.75"]),
    ("preallocated, .5", ["--set", "XLA_CLIENT_MEM_FRACTION=.5"]),
    ("preallocated, .95", ["--set", "XLA_CLIENT_MEM_FRACTION=.95"]),
    ("preallocated, .75, not partitioned", ["--set", "XLA_FLAGS=--xla_gpu_enable_allocator_spatial_partitioning=false"]),
    ("not preallocated", ["--set", "XLA_PYTHON_CLIENT_PREALLOCATE=false"]),
    ("platform", ["--set", "XLA_PYTHON_CLIENT_ALLOCATOR=platform"]),
    ("cuda_async", ["--set", "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"]),
    ("vmm", ["--set", "XLA_PYTHON_CLIENT_ALLOCATOR=vmm"]),
    ("PyTorch, to compare", ["--allocator", "pytorch"]),
    ("PyTorch, expandable segments", ["--allocator", "pytorch", "--set", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"]),
    ("first fit, to compare", ["--allocator", "naive"]),
]


def replay(hbmscope, options):
    finished = subprocess.run([hbmscope, "replay", *WORKLOAD, *options, "--json"], capture_output=True, text=True, check=True)
    return json.loads(finished.stdout)


def verdict_in_words(failure):
    return (failure["cause_title"] or failure["verdict"]).replace("_", " ").lower()


def share(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def row(name, options, answer):
    failure = answer["failures"][0] if answer["failures"] else None
    refused = "none" if failure is None else f"{answer['refused']}, first at operation {failure['operation'] + 1}: {verdict_in_words(failure)}"
    calls = answer["driver_claims"] + answer["driver_refusals"] + answer["driver_releases"]
    cells = [
        name,
        answer["certainty"],
        f"`{' '.join(options)}`",
        f"{answer['peak_in_use_bytes'] / MIB:.0f} MiB",
        f"{answer['peak_pool_bytes'] / MIB:.0f} MiB",
        share(answer["external_fragmentation"]),
        share(answer["internal_fragmentation"]),
        str(calls),
        refused,
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    print("| setting | certainty | options | peak in use | peak pool | external fragmentation at the end | internal fragmentation at the end | driver calls | refused requests |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, options in LINES:
        print(row(name, options, replay(sys.argv[1], options)))


main()
