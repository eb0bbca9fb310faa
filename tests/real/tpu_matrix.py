#!/usr/bin/env python3
"""Which programs run on emulated TPU slices, by version of JAX and slice, as a table.

    tests/real/tpu_matrix.py HBMSCOPE [NAME ...] [SLICE ...] [PROGRAM ...]

NAME: an environment of build/real, SLICE: such as v5e:2x2, PROGRAM: one of tpu_programs.py; default: all that are there.

The verdict of each run is compared with its recording: their peaks must be the same.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build" / "real"
SLICES = ("v2:1x1", "v3:2x2", "v4:2x2x1", "v5e:2x2", "v5p:2x2x1", "v6e:2x2", "tpu7x:2x2x1", "v5e:4x4")

# What a version or a generation does not have: flax 0.12.8 is older than that JAX; the kernel multiplies bfloat16.
ABSENT = {("tpu-0.12.0.1", "nnx_training"), ("v2", "flash_attention"), ("v3", "flash_attention")}


def run(hbmscope, name, machine, programs, folder, script="tpu_programs.py", **variables):
    """The lines of the programs, {"arrays": "passed", ...}, the verdict, and the recording's report."""
    recording = folder / "run.hbm"
    given = dict(os.environ, HBMSCOPE_TPU_CACHE=str(folder / "cache"), PYTHONWARNINGS="ignore", **variables)
    job = [ENVIRONMENTS / name / "bin" / "python", HERE / script, *programs]
    options = ["--json", "--no-window", "--no-flight", "--record", recording]
    try:
        done = subprocess.run([hbmscope, "run", "--emulate", machine, *options, "--", *job], env=given, capture_output=True, text=True, timeout=1200)
    except subprocess.TimeoutExpired as error:
        return {"it ended early": f"took more than {error.timeout} s"}, None, None
    lines = {}
    for line in done.stderr.splitlines():
        program, colon, text = line.partition(": ")
        if colon and program.isidentifier() and program != "hbmscope" or program == "the end":
            lines[program] = text
    if "the end" not in lines:
        lines["it ended early"] = (done.stderr.strip().splitlines() or ["without output"])[-1][:200]
    lines.pop("the end", None)
    report = subprocess.run([hbmscope, "report", recording, "--json"], capture_output=True, text=True)
    return lines, json.loads(done.stdout), json.loads(report.stdout)


def faults_of(verdict, report):
    """What is wrong with the verdict."""
    slice_run, faults = verdict["tpu"], {}
    if slice_run["differing_executions"]:
        faults["sums"] = f"in {slice_run['differing_executions']} of {slice_run['compared_executions']} executions the compiler's sum differs"
    if slice_run["not_emulated"]:
        faults["functions"] = f"not emulated: {slice_run['not_emulated']}"
    recorded = {heap["device"]: heap["peak_in_use_bytes"] for heap in report["heaps"] if heap["peak_in_use_bytes"]}
    judged = {device["device"]: device["peak_bytes"] for device in verdict["devices"]}
    if recorded != judged:
        faults["peaks"] = f"recorded {recorded}, in the verdict {judged}"
    return faults


def main():
    hbmscope, *given = sys.argv[1:]
    names = [word for word in given if word.startswith("tpu-")] or sorted(path.name for path in ENVIRONMENTS.glob("tpu-*"))
    machines = [word for word in given if ":" in word] or SLICES
    programs = [word for word in given if ":" not in word and not word.startswith("tpu-")]
    failed = 0
    for name in names:
        for machine in machines:
            started = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                lines, verdict, report = run(hbmscope, name, machine, programs, pathlib.Path(folder))
            wrong = {program: text for program, text in lines.items() if text != "passed" and not ABSENT & {(name, program), (machine.split(":")[0], program)}}
            if verdict is not None:
                wrong.update(faults_of(verdict, report))
            failed += len(wrong)
            passed = ", ".join(program for program, text in lines.items() if text == "passed")
            print(f"{name:14} {machine:12} {time.monotonic() - started:4.0f} s  passed: {passed or 'nothing'}", flush=True)
            for program, text in wrong.items():
                print(f"{'':35} {program}: {text}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
