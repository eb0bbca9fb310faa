#!/usr/bin/env python3
"""What viewers cost a job: CPU time of the job per event with no viewer, and with ten of which one is stopped, by
turns; and whether the stopped one is exact again, how long that takes, and whether anything was lost.

    live_viewers.py HBMSCOPE ANNOTATED_PROGRAM [EVENTS_A_SECOND] [SECONDS]
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HBMSCOPE, PROGRAM = sys.argv[1:3]
RATE = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 6


class CpuTime:
    """Of all threads, the ended ones too, as long as it is asked often enough."""

    def __init__(self, pid):
        self.pid, self.threads = pid, {}

    def look(self):
        try:
            for thread in Path(f"/proc/{self.pid}/task").iterdir():
                self.threads[thread.name] = int((thread / "schedstat").read_text().split()[0])
        except OSError:
            pass
        return sum(self.threads.values())


class Watching:
    """A viewer, and what it said last."""

    def __init__(self, run, environment):
        self.last, self.events = None, 0
        self.process = subprocess.Popen([HBMSCOPE, "watch", str(run.pid), "--json", "--every", "0.1"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def listen(self):
        for line in self.process.stdout:
            self.last = json.loads(line)
            self.events = self.last["events"]["total"]


def job_of(process):
    """Of the observer's children: another one passes the job's standard error on."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while True:
        for child in children.read_text().split():
            try:
                if Path(f"/proc/{child}/exe").samefile(PROGRAM):
                    return int(child)
            except OSError:  # It has ended, or is none of ours yet.
                pass
        time.sleep(0.001)


def one(environment, folder, viewers):
    recording = str(Path(folder) / "r.hbm")
    events = int(RATE * SECONDS)
    run = subprocess.Popen([HBMSCOPE, "run", "--no-window", "--record", recording, "--", PROGRAM, "--events", str(events),
                            "--pace", str(max(1, RATE // 1000))],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    job = job_of(run)
    watching = [Watching(run, environment) for _ in range(viewers)]
    caught_up, cpu, begun = None, CpuTime(job), time.monotonic()
    is_stopped, woken = False, None
    while run.poll() is None:
        cpu.look()
        passed = (time.monotonic() - begun) / SECONDS
        if watching and not is_stopped and passed > 0.25:
            os.kill(watching[0].process.pid, signal.SIGSTOP)
            is_stopped = True
        if watching and woken is None and passed > 0.6:
            os.kill(watching[0].process.pid, signal.SIGCONT)
            woken, behind = time.monotonic(), watching[1].events - watching[0].events
        if woken is not None and caught_up is None and watching[0].events >= watching[1].events - RATE // 4:
            caught_up = time.monotonic() - woken
        time.sleep(0.002)
    out, err = run.communicate()
    truth = json.loads(out)
    found = json.loads(subprocess.run([HBMSCOPE, "report", recording, "--json"], capture_output=True, text=True, check=True).stdout)
    exact = 0
    for viewer in watching:
        viewer.process.wait()
        viewer.thread.join()
        heap = viewer.last["heaps"][0]
        exact += all(heap[key] == truth["heaps"][0][key] for key in ("in_use_bytes", "live_blocks"))
    return cpu.look() / events, found["events"]["lost"], (caught_up, behind) if watching else None, exact


with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, XDG_RUNTIME_DIR=folder)
    alone, watched = [], []
    for turn in range(3):
        alone.append(one(environment, folder, 0))
        watched.append(one(environment, folder, 10))
    a, w = min(row[0] for row in alone), min(row[0] for row in watched)
    print(f"{RATE:,} events/s for {SECONDS:g} s, best of 3 by turns")
    print(f"CPU of the job an event: {a:.0f} ns with no viewer, {w:.0f} ns with ten, one of them stopped: {w / a:.3f}x")
    print(f"lost: {sum(row[1] for row in alone)} and {sum(row[1] for row in watched)}")
    for _, _, (seconds, behind), exact in watched:
        print(f"the stopped one was {behind:,} events behind, and there again after {seconds:.2f} s; exact in the end: {exact} of 10")
