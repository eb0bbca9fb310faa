#!/usr/bin/env python3
"""hbmscope attach, on a job that has used a CUDA driver for a while, with a CUPTI that is free, held, left alone or not
there: what is seen, what is said, and that the job's own profiler has CUPTI again afterwards.

    attach_driver_test.py HBMSCOPE EMULATED_DRIVER FAKE_CUPTI
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from attaching import AttachTest

HBMSCOPE, FAKES, FAKE_CUPTI = sys.argv[1:4]
VERSIONS = {"12": "12090", "13.0": "13000", "13.3": "13030"}
BLOCK_BYTES, BLOCKS = 4096, 10
# Holds ten blocks that it had from before, and takes and gives another one again and again. SIGUSR1: it tries to have
# CUPTI, as a profiler does, and lets go of it. SIGUSR2: the end.
JOB = f"""
import ctypes as C, signal, sys, time
cuda = C.CDLL("libcuda.so.1")
cupti = C.CDLL(sys.argv[1]) if sys.argv[1] else None
callback = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_uint32, C.c_void_p)(lambda *_: None)
held, ended, asked = C.c_void_p(), [], []
def subscribe():
    return cupti.cuptiSubscribe(C.byref(held), callback, None)
if sys.argv[2] == "held":
    assert subscribe() == 0
def take():
    at = C.c_uint64()
    assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t({BLOCK_BYTES})) == 0
    return at
before = [take() for _ in range({BLOCKS})]
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
signal.signal(signal.SIGUSR2, lambda *_: ended.append(1))
print("begun", flush=True)
turns = 0
while not ended:
    assert cuda.cuMemFree_v2(take()) == 0
    turns += 1
    time.sleep(0.0005)
    if asked:
        asked.clear()
        result = subscribe()
        print("profiler", result, flush=True)
        if result == 0:
            assert cupti.cuptiUnsubscribe(held) == 0
assert all(cuda.cuMemFree_v2(at) == 0 for at in before)
print("turned", turns > 0)
"""


class AttachDriver(AttachTest):
    def job(self, version="12", state="free", is_there=True):
        paths = [f"{FAKES}/bound"] + ([f"{FAKE_CUPTI}/{version}"] if is_there else [])
        library = next(Path(FAKE_CUPTI, version).glob("libcupti.so.*")).name if is_there else ""
        job = subprocess.Popen([sys.executable, "-c", JOB, library, state], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, LD_LIBRARY_PATH=":".join(paths), HBMSCOPE_DEVICE_CUDA=VERSIONS[version]))
        for closed in (job.stdout.close, job.wait, job.kill):
            self.addCleanup(closed)
        self.assertEqual(job.stdout.readline(), "begun\n")
        return job

    def attach(self, job, *options, seconds=0.6):
        done = subprocess.run([HBMSCOPE, "attach", str(job.pid), "--record", self.recording, "--for", str(seconds), *options],
                              capture_output=True, text=True, env=self.environment, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def ask_profiler(self, job):
        job.send_signal(signal.SIGUSR1)
        return job.stdout.readline().strip()

    def end(self, job):
        job.send_signal(signal.SIGUSR2)
        self.assertEqual(job.communicate(timeout=30)[0], "turned True\n")
        self.assertEqual(job.returncode, 0)

    def report(self):
        done = subprocess.run([HBMSCOPE, "report", self.recording, "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def test_cupti_reports_while_it_is_attached_and_is_free_again_afterwards(self):
        for version in ("12", "13.0"):
            with self.subTest(version):
                job = self.job(version)
                seconds = 0.6
                for _ in range(3):
                    said = self.attach(job, seconds=seconds)
                    while self.report()["events"]["alloc"] <= 100 and seconds < 20:  # On a machine that has no time for the job.
                        seconds *= 4
                        said = self.attach(job, seconds=seconds)
                    self.assertIn(f"hbmscope uses CUPTI in {job.pid}, if it is free", said)
                    self.assertIn("CUDA driver calls are recorded with CUPTI (", said)
                    events = self.report()["events"]
                    self.assertGreater(events["alloc"], 100)
                    # No free is missed: calls that free are reported first, so a busy machine may see more of them.
                    self.assertLessEqual(events["alloc"] - events["free"], 1)
                    self.assertEqual(events["lost"], 0)
                    self.assertEqual(self.ask_profiler(job), "profiler 0")
                self.end(job)

    def test_while_it_is_attached_the_profiler_learns_that_cupti_is_taken(self):
        job = self.job()
        attaching = subprocess.Popen([HBMSCOPE, "attach", str(job.pid), "--record", self.recording],
                                     stderr=subprocess.PIPE, text=True, env=self.environment)
        for closed in (attaching.stderr.close, attaching.wait, attaching.kill):
            self.addCleanup(closed)
        while "attached to" not in attaching.stderr.readline():
            pass
        self.assertNotEqual(self.ask_profiler(job), "profiler 0")
        attaching.kill()  # As abruptly as possible: the job must detach by itself.
        attaching.wait()
        for _ in range(100):
            time.sleep(0.05)
            answer = self.ask_profiler(job)
            if answer == "profiler 0":
                break
        self.assertEqual(answer, "profiler 0")
        self.end(job)

    def test_cupti_that_somebody_holds_is_left_to_them(self):
        job = self.job(state="held")
        said = self.attach(job)
        self.assertIn("CUDA driver calls are not recorded: CUPTI is in use", said)
        self.assertIn("where the driver (NVML) reports it", said)
        self.assertNotIn("CUPTI is taken while", said)
        self.assertEqual(self.attached()["driver_calls"], "CUDA driver calls are not recorded: CUPTI is in use")
        text = subprocess.run([HBMSCOPE, "report", self.recording], capture_output=True, text=True, check=True).stdout
        self.assertIn("CUDA driver calls are not recorded: CUPTI is in use.", text)
        self.assertIn("nothing is in use that this trace knows of", text)
        self.assertNotIn("profile has no samples", text)
        self.end(job)

    def attached(self):
        [attached] = self.report()["attached"]
        return attached

    def test_a_driver_loaded_later_is_recorded_from_then_on(self):
        blocks = 50
        late = f"""
import ctypes as C, signal, sys, time
begun = []
signal.signal(signal.SIGUSR1, lambda *_: begun.append(1))
print("begun", flush=True)
while not begun:
    time.sleep(0.001)
cuda = C.CDLL("libcuda.so.1")
cupti = C.CDLL(sys.argv[1])
callback = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_uint32, C.c_void_p)(lambda *_: None)
held = C.c_void_p()
if sys.argv[2] == "held":
    assert cupti.cuptiSubscribe(C.byref(held), callback, None) == 0
for _ in range({blocks}):
    at = C.c_uint64()
    assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(4096)) == 0
    time.sleep(0.02)
time.sleep(60)
"""
        library = next(Path(FAKE_CUPTI, "12").glob("libcupti.so.*")).name
        for state, how in (("free", "recorded with CUPTI ("), ("held", "not recorded: CUPTI is in use")):
            with self.subTest(state):
                job = subprocess.Popen([sys.executable, "-c", late, library, state], stdout=subprocess.PIPE, text=True,
                                       env=dict(os.environ, LD_LIBRARY_PATH=f"{FAKES}/bound:{FAKE_CUPTI}/12", HBMSCOPE_DEVICE_CUDA=VERSIONS["12"]))
                for closed in (job.stdout.close, job.wait, job.kill):
                    self.addCleanup(closed)
                self.assertEqual(job.stdout.readline(), "begun\n")
                attaching = subprocess.Popen([HBMSCOPE, "attach", str(job.pid), "--no-window", "--record", self.recording],
                                             stderr=subprocess.PIPE, text=True, env=self.environment)
                for closed in (attaching.stderr.close, attaching.wait, attaching.kill):
                    self.addCleanup(closed)
                first = attaching.stderr.readline()
                self.assertIn("CUDA driver calls are not recorded yet: no CUDA driver is loaded (when it loads the driver, hbmscope uses CUPTI", first)
                job.send_signal(signal.SIGUSR1)
                self.assertIn(f"{job.pid}: CUDA driver calls are {how}", attaching.stderr.readline())
                time.sleep(2)
                attaching.send_signal(signal.SIGINT)
                self.assertEqual(attaching.wait(timeout=30), 0)
                attached = self.attached()
                self.assertIn(how, attached["driver_calls"])
                self.assertGreater(attached["driver_calls_since_ns"], 0)
                if state == "free":  # Twenty milliseconds pass unseen, and more on a busy machine.
                    self.assertGreater(self.report()["events"]["alloc"], blocks // 2)
                    text = subprocess.run([HBMSCOPE, "report", self.recording], capture_output=True, text=True, check=True).stdout
                    self.assertIn("s after attaching; earlier allocations are unknown.", text)
                job.kill()

    def test_cupti_is_left_alone_if_requested(self):
        job = self.job()
        said = self.attach(job, "--no-cupti")
        self.assertNotIn("uses CUPTI", said)
        self.assertIn("CUDA driver calls are not recorded: CUPTI is left to the job", said)
        self.assertEqual(self.ask_profiler(job), "profiler 0")
        self.end(job)

    def test_no_cupti_at_all(self):
        job = self.job(is_there=False)
        self.assertIn("CUDA driver calls are not recorded: no libcupti.so.12", self.attach(job))
        self.end(job)

    def test_what_was_taken_before_is_not_held_for_nothing(self):
        job = self.job()
        self.attach(job)
        [heap] = self.report()["heaps"]
        self.assertLessEqual(heap["in_use_bytes"], BLOCK_BYTES)  # The blocks from before are not known of.
        self.end(job)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
