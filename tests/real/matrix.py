#!/usr/bin/env python3
"""Which programs run on emulated devices, by framework, version and setting of its allocator, as a table.

    tests/real/matrix.py EMULATED [NAME ...]     NAME: an environment of build/real; default: all that are there
"""

import os
import pathlib
import subprocess
import sys

from emulated import environment

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build" / "real"
# Name -> variables, number of devices.
SETTINGS = {
    "jax": {
        "default": ({}, 1),
        "fraction .5": ({"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}, 1),
        "no preallocation": ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, 1),
        "platform": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}, 1),
        "cuda_async": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async"}, 1),
        "vmm": ({"XLA_PYTHON_CLIENT_ALLOCATOR": "vmm"}, 1),
        "two devices": ({}, 2),
        "eight devices": ({}, 8),
    },
    "torch": {
        "default": ({}, 1),
        "expandable": ({"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, 1),
        "max_split 64": ({"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64"}, 1),
        "cudaMallocAsync": ({"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, 1),
        "fraction .5": ({"MATRIX_MEMORY_FRACTION": ".5"}, 1),
        "gc .8": ({"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.8"}, 1),
        "two devices": ({}, 2),
        "eight devices": ({}, 8),
    },
}
SETTINGS["tensorflow"] = {
    "default": ({}, 1),
    "growth": ({"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, 1),
    "cuda_malloc_async": ({"TF_GPU_ALLOCATOR": "cuda_malloc_async"}, 1),
    "two devices": ({}, 2),
}
# What a version does not have.
ABSENT = {("jax-0.4.38", "vmm"), ("jax-0.6.2", "vmm")}


def run(emulated, name, variables, devices):
    """The lines of the programs: {"arrays": "passed", ...}."""
    framework = name.split("-")[0]
    given = environment(emulated)
    given.update(variables, HBMSCOPE_DEVICE_COUNT=str(devices), HBMSCOPE_DEVICE_BYTES=str(16 << 30), HBMSCOPE_DEVICE_CONTEXT_BYTES=str(500 << 20))
    python = ENVIRONMENTS / name / "bin" / "python"
    try:
        done = subprocess.run([python, HERE / f"{framework}_programs.py"], env=given, capture_output=True, text=True, timeout=300)
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        output, errors = (error.stdout or b"").decode(), "took more than 300 s"
    lines = dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)
    if "the end" not in lines:
        lines["it ended early"] = (errors.strip().splitlines() or ["without output"])[-1][:200]
    lines.pop("the end", None)
    return lines


def main():
    emulated, *names = sys.argv[1:]
    names = names or sorted(name for name in os.listdir(ENVIRONMENTS) if name.split("-")[0] in SETTINGS)
    failed = 0
    for name in names:
        for setting, (variables, devices) in SETTINGS[name.split("-")[0]].items():
            if (name, setting) in ABSENT:
                continue
            lines = run(emulated, name, variables, devices)
            wrong = {program: text for program, text in lines.items() if text != "passed"}
            failed += len(wrong)
            passed = ", ".join(program for program in lines if program not in wrong)
            print(f"{name:14} {setting:17} passed: {passed or 'nothing'}", flush=True)
            for program, text in wrong.items():
                print(f"{'':32} {program}: {text}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
