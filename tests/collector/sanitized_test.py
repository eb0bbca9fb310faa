#!/usr/bin/env python3
"""A job of eight threads that was built with a sanitizer runs under hbmscope as it does alone: nothing is reported, and
the recording holds what it did.

    sanitized_test.py HBMSCOPE FAKE_FOLDER JOB
"""

import json
import os
import subprocess
import sys
import tempfile


def main():
    hbmscope, fakes, job = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        recording = f"{folder}/run.hbm"
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder, LD_LIBRARY_PATH=f"{fakes}/bound")
        command = [hbmscope, "run", "--no-window", "--record", recording, "--", job, "dlsym", "8", "40000", "1"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        if done.returncode != 0 or "Sanitizer" in done.stderr:
            sys.exit(f"exit code {done.returncode}\n{done.stderr[:4000]}")
        truth = json.loads(done.stdout)
        events = json.loads(subprocess.run([hbmscope, "report", recording, "--json"], capture_output=True, text=True, check=True).stdout)["events"]
        wrong = [f"{key}: {events[key]} instead of {truth[key]}" for key in ("alloc", "free", "driver_refusals") if events[key] != truth[key]]
        sys.exit("\n".join(wrong) or 0)


main()
