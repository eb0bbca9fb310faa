#!/usr/bin/env python3
"""A job of eight threads that was built with a sanitizer runs under hbmscope as it does alone: nothing is reported, and
the recording holds what it did; under both back ends.

    sanitized_test.py HBMSCOPE EMULATED_DRIVER FAKE_CUPTI JOB
"""

import json
import os
import subprocess
import sys
import tempfile


def find_wrong(hbmscope, fakes, fake_cupti, job, back_end):
    with tempfile.TemporaryDirectory() as folder:
        recording = f"{folder}/run.hbm"
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder, LD_LIBRARY_PATH=f"{fakes}/bound:{fake_cupti}/12", HBMSCOPE_DEVICE_CUDA="12090")
        command = [hbmscope, "run", "--no-window", "--backend", back_end, "--record", recording, "--", job, "dlsym", "8", "40000", "1"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        if done.returncode != 0 or "Sanitizer" in done.stderr:
            return [f"exit code {done.returncode}\n{done.stderr[:4000]}"]
        if ("recorded with CUPTI (" in done.stderr) != (back_end == "cupti"):
            return [done.stderr]
        truth = json.loads(done.stdout)
        blocks = json.loads(subprocess.run([hbmscope, "report", recording, "--blocks", "0", "--json"], capture_output=True, text=True, check=True).stdout)["blocks"]["rows"]
        named = [block for block in blocks if any("main::" in frame["name"] or "(anonymous namespace)::" in frame["name"] for frame in block["stack"])]
        if not blocks or len(named) != len(blocks):
            return [f"{back_end}: {len(named)} of {len(blocks)} blocks say who took them: {blocks[:1]}"]
        events = json.loads(subprocess.run([hbmscope, "report", recording, "--json"], capture_output=True, text=True, check=True).stdout)["events"]
        return [f"{back_end}: {key}: {events[key]} instead of {truth[key]}" for key in ("alloc", "free", "driver_refusals") if events[key] != truth[key]]


wrong = [line for back_end in ("interpose", "cupti") for line in find_wrong(*sys.argv[1:5], back_end)]
sys.exit("\n".join(wrong) or 0)
