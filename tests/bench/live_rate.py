#!/usr/bin/env python3
"""A job that tells events as fast as it is told to, recorded while a viewer watches: how many were sent, received and
lost, and how long after the fast part the viewer's heap is exact again.

    live_rate.py HBMSCOPE RATE_PROGRAM [EVENTS_A_SECOND ...]
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HBMSCOPE, PROGRAM = sys.argv[1:3]
RATES = [int(rate) for rate in sys.argv[3:]] or [1_000_000, 5_000_000]
SECONDS = 10


def measure(rate, folder, environment):
    recording = str(Path(folder) / "r.hbm")
    run = subprocess.Popen([HBMSCOPE, "run", "--no-window", "--no-flight", "--record", recording, "--", PROGRAM, str(rate), str(SECONDS), "2"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    time.sleep(0.5)
    viewer = subprocess.Popen([HBMSCOPE, "watch", str(run.pid), "--json", "--every", "0.1"], stdout=subprocess.PIPE, text=True, env=environment)
    seen = []

    def listen():
        for line in viewer.stdout:
            seen.append((time.monotonic(), json.loads(line)))

    listening = threading.Thread(target=listen)
    listening.start()
    fast = json.loads(run.stdout.readline())
    over = time.monotonic()
    truth = json.loads(run.stdout.readline())
    run.communicate()
    viewer.wait()
    listening.join()
    found = json.loads(subprocess.run([HBMSCOPE, "report", recording, "--json"], capture_output=True, text=True, check=True).stdout)
    received, lost, heap = found["events"]["total"], found["events"]["lost"], found["heaps"][0]
    exact = all(heap[key] == truth[key] for key in ("live_blocks", "in_use_bytes")) and not heap["is_inexact"]
    # The first line after the fast part in which every event was received or reported as lost, and the heap is exact.
    again = [at - over for at, line in seen if at > over and not line["heaps"][0]["is_inexact"]
             and line["events"]["total"] + line["events"]["lost"] >= fast["sent"]]
    behind = max((line["behind_seconds"] for _, line in seen), default=0)
    print(f"{rate / 1e6:g} M events/s wanted, {fast['sent'] / fast['seconds'] / 1e6:.2f} M/s made for {fast['seconds']:.1f} s on {os.cpu_count()} cores, one viewer:")
    print(f"  sent {truth['sent']:,}, received {received:,}, told as lost {lost:,}: sent - received = {truth['sent'] - received:,}")
    print(f"  the viewer was at most {behind:.2f} s behind, and exact {again[0]:.2f} s after the fast part" if again else "  the viewer was NOT exact again", end="")
    print(f"; the recording's end is {'exact' if exact else 'NOT exact'}, {os.path.getsize(recording) / received:.2f} bytes an event")


with tempfile.TemporaryDirectory() as folder:
    for rate in RATES:
        measure(rate, folder, dict(os.environ, XDG_RUNTIME_DIR=folder))
