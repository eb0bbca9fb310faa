#!/usr/bin/env python3
"""A program that serves itself, without hbmscope run: whoever looks finds it, its recording holds what it did, and its
children have nothing of it.

    self_serve_test.py HBMSCOPE SERVING_PROGRAM
"""

import json
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

from own_folder import OwnFolderTest

HBMSCOPE, PROGRAM = sys.argv[1:3]


class SelfServe(OwnFolderTest):
    def setUp(self):
        super().setUp()
        self.environment["TMPDIR"] = str(self.folder)

    def start(self, *options):
        process = subprocess.Popen([PROGRAM, "--serve", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        for end in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(end.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stderr.readline(), "serves\n")
        return process

    def hbmscope(self, *words, code=0):
        done = subprocess.run([HBMSCOPE, *words], capture_output=True, text=True, env=self.environment, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def report(self, *options):
        return json.loads(self.hbmscope("report", self.recording, "--json", *options).stdout)

    def watch(self, pid, seconds="1"):
        return [json.loads(line) for line in self.hbmscope("watch", str(pid), "--json", "--every", "0.1", "--for", seconds).stdout.splitlines()]

    def assert_heaps_are(self, truth, found):
        by_name = {heap["name"]: heap for heap in found["heaps"]}
        self.assertEqual(sorted(by_name), sorted(heap["name"] for heap in truth["heaps"]))
        for heap in truth["heaps"]:
            for key in ("live_blocks", "in_use_bytes", "requested_bytes"):
                self.assertEqual(by_name[heap["name"]][key], heap[key], f"{heap['name']}: {key}")

    def test_the_recording_holds_all_that_it_did_when_it_ends(self):
        process = self.start("--threads", "4", "--events", "50000", "--record", self.recording, "--fail")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        truth, found = json.loads(out), self.report()
        self.assert_heaps_are(truth, found)
        self.assertEqual(found["events"]["total"], sum(heap["events"] for heap in truth["heaps"]))
        self.assertEqual((found["events"]["lost"], found["events"]["oom"]), (0, 1))

    def test_a_limit_on_files_does_not_end_it(self):
        for limit, said in ((1 << 30, "serves"), (4 << 20, "its limit on the size of files (ulimit -f) leaves no room for shared memory")):
            done = subprocess.run([PROGRAM, "--serve", "--events", "1000", "--record", self.recording], capture_output=True, text=True, env=self.environment,
                                  timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))  # noqa: B023
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (0, said))

    def test_whoever_looks_finds_it(self):
        process = self.start("--forever", "--pace", "20")
        place = self.folder / "hbmscope"
        self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((place / f"view-{process.pid}").stat().st_mode), 0o600)
        jobs = {job["pid"]: job for job in json.loads(self.hbmscope("ps", "--json").stdout)["jobs"]}
        self.assertEqual(jobs[process.pid]["observer"], process.pid)
        self.assertIn(f"serves itself: hbmscope open live:{process.pid}", self.hbmscope("ps").stdout)
        lines = self.watch(process.pid)
        self.assertGreater(lines[-1]["events"]["total"], lines[0]["events"]["total"])
        self.assertEqual(lines[-1]["events"]["lost"], 0)
        self.assertEqual([heap["name"] for heap in lines[-1]["heaps"]], ["pool 0"])
        self.assertIn("serves itself (hbmscope_serve)", self.hbmscope("attach", str(process.pid), code=2).stderr)
        # None of its files are among the program's own, and the unnamed recording has no path.
        self.assertEqual(len(os.listdir(f"/proc/{process.pid}/fd")), 3)
        self.assertEqual([path for path in self.folder.iterdir() if path.name != "hbmscope"], [])

    def test_a_detached_job_runs_on_and_reports_nothing(self):
        process = self.start("--forever", "--pace", "20", "--record", self.recording)
        self.watch(process.pid, "0.3")
        self.hbmscope("detach", str(process.pid))
        before = self.report()["events"]["total"]
        self.assertGreater(before, 0)
        for _ in range(3):
            process.stdout.readline()
        self.assertIsNone(process.poll())
        self.assertEqual(self.report()["events"]["total"], before)
        self.assertIn("none of your hbmscope processes observes process", self.hbmscope("watch", str(process.pid), code=2).stderr)

    def test_a_child_has_nothing_of_its_parents(self):
        process = self.start("--events", "20000", "--record", self.recording, "--fork")
        child = process.stderr.readline()
        out = process.stdout.readline()
        self.assertEqual(process.wait(), 0)
        truth, found = json.loads(out), self.report()
        self.assert_heaps_are(truth, found)
        self.assertEqual((found["events"]["total"], found["events"]["lost"]), (truth["heaps"][0]["events"], 0))
        for theirs in ("socket:", "memfd:", ".hbm", "/dev/null"):
            self.assertNotIn(theirs, child)

    def test_a_viewer_sees_the_end_of_a_killed_parent_though_its_child_lives(self):
        process = self.start("--forever", "--pace", "20", "--events", "2000", "--record", self.recording, "--fork")
        self.assertIn("child", process.stderr.readline())
        viewer = subprocess.Popen([HBMSCOPE, "watch", str(process.pid), "--json", "--every", "0.1"], stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(viewer.stdout.close)
        self.addCleanup(viewer.kill)
        seen = json.loads(viewer.stdout.readline())["events"]["total"]
        process.kill()
        viewer.communicate(timeout=30)
        self.assertGreaterEqual(self.report()["events"]["total"], seen)

    def test_what_it_becomes_by_exec_does_not_serve_itself(self):
        process = self.start("--exec", "/bin/cat")
        process.stdout.readline()
        process.stdin.write("it is another program\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "it is another program\n")
        self.assertIn("none of your hbmscope processes observes process", self.hbmscope("watch", str(process.pid), code=2).stderr)
        self.assertNotIn("serves itself", self.hbmscope("ps").stdout)
        self.assertEqual([path.name for path in (self.folder / "hbmscope").iterdir() if path.name != f"run-{process.pid}"], [])

    def test_a_child_may_serve_itself(self):
        process = self.start("--forever", "--pace", "20", "--events", "2000", "--fork", "--child-serves")
        self.assertEqual(process.stderr.readline(), "serves\n")
        child = int(process.stderr.readline().split()[1])
        lines = self.watch(child, "0.3")
        self.assertEqual(lines[-1]["events"]["total"], 1000)
        self.assertFalse(lines[-1]["heaps"][0]["is_inexact"])
        self.assertGreater(self.watch(process.pid, "0.3")[-1]["events"]["total"], 1000)

    def test_one_that_is_observed_says_so(self):
        done = self.hbmscope("run", "--record", self.recording, "--", PROGRAM, "--serve", "--events", "2000")
        self.assertIn("another hbmscope already observes this process", done.stderr)
        self.assertEqual(self.report()["events"]["total"], 2001)
        done = self.hbmscope("run", "--no-follow", "--record", self.recording, "--", PROGRAM, "--serve", "--events", "2000")
        self.assertIn("another hbmscope already observes this process", done.stderr)

    def test_a_viewer_that_is_slow_does_not_cost_the_recording_its_end(self):
        process = self.start("--events", "6000000", "--pace", "1000", "--record", self.recording)
        with socket.socket(socket.AF_UNIX) as viewer:
            viewer.connect(str(self.folder / "hbmscope" / f"view-{process.pid}"))
            viewer.sendall(b"hbmviewr" + struct.pack("<IIQQ", 1, 1, 0, 0))
            while process.poll() is None:
                viewer.recv(20_000)  # Always something, so that it is not hung up on for that.
                time.sleep(0.01)
        self.assertEqual(process.wait(60), 0)
        # A ring holds a fifth of a second of events: losses on a busy machine are counted. A marker that is lost counts
        # like an event; the program has one for each 100 of them.
        truth, found = json.loads(process.stdout.read()), self.report()["events"]
        events = sum(heap["events"] for heap in truth["heaps"])
        self.assertGreaterEqual(found["total"] + found["lost"], events)
        self.assertLessEqual(found["total"] + found["lost"], events + min(found["lost"], 60_000))

    def test_it_ends_with_so_much_recorded(self):
        process = self.start("--forever", "--pace", "100", "--record", self.recording, "--record-bytes", "300000")
        place = self.folder / "hbmscope" / f"view-{process.pid}"
        deadline = time.monotonic() + 30
        while place.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(place.exists())
        process.stdout.readline()
        self.assertIsNone(process.poll())
        self.assertLess(os.path.getsize(self.recording), 3_000_000)

    def test_no_place_for_the_recording_is_said(self):
        done = subprocess.run([PROGRAM, "--serve", "--record", str(self.folder / "missing" / "x.hbm")], capture_output=True, text=True, env=self.environment,
                              timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("cannot write a recording to", done.stderr)
        json.loads(done.stdout)

    def test_one_that_was_refused_serves_later_and_exits(self):
        for serves in ([], ["--serve", "--record", self.recording]):
            done = subprocess.run([PROGRAM, "--fail-first", "100", *serves], capture_output=True, text=True, env=self.environment, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = done.stderr.splitlines()
            self.assertIn("cannot write a recording to /nowhere/x.hbm", said[0])
            self.assertEqual(said[1:], ["serves"] if serves else [])
        self.assert_heaps_are(json.loads(done.stdout), self.report())


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    unittest.main(argv=sys.argv[:1])
