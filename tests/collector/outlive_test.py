#!/usr/bin/env python3
"""hbmscope run of commands that end before the processes that they have started: all that these do is recorded, or the
recording says what is missing.

    outlive_test.py HBMSCOPE ANNOTATED_PROGRAM
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_children import children
from own_folder import OwnFolderTest

HBMSCOPE, PROGRAM = sys.argv[1:3]
GOES_ON = " and is observed: "
TRUTH = "truth.json"


class Outlive(OwnFolderTest):
    def command(self, script, options):
        words = ["--no-flight", "--no-window", *options, "--record", self.recording]
        return [HBMSCOPE, "run", *words, "--", "/bin/bash", "-c", script, "bash", PROGRAM]

    def run_it(self, script, *options, code=4):
        """What the script's program prints goes to a file: nobody waits for the end of a pipe."""
        with open(self.folder / "stderr", "w") as stderr:
            done = subprocess.run(self.command(script, options), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, timeout=120,
                                  env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, code, self.stderr())
        return self.stderr()

    def start(self, script, *options):
        with open(self.folder / "stderr", "w") as stderr:
            process = subprocess.Popen(self.command(script, options), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, env=self.environment,
                                       cwd=self.folder)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def stderr(self):
        return (self.folder / "stderr").read_text()

    def wait_until(self, is_so, what):
        for _ in range(3000):
            if is_so():
                return
            time.sleep(0.02)
        self.fail(f"{what} never came: {self.stderr()}")

    def report(self):
        done = subprocess.run([HBMSCOPE, "report", self.recording, "--at", "end", "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def unusual(self):
        """The rows of check that are more than counts."""
        done = subprocess.run([HBMSCOPE, "check", self.recording, "--json"], capture_output=True, text=True)
        [file] = json.loads(done.stdout)["files"]
        return {row["name"]: row for row in file["import"] if row["severity"] != "info"}

    def assert_complete(self):
        """What the process printed about itself is what the recording holds."""
        [truth], found = json.loads((self.folder / TRUTH).read_text())["heaps"], self.report()
        self.assertEqual([(heap["live_blocks"], heap["in_use_bytes"]) for heap in found["heaps"]], [(truth["live_blocks"], truth["in_use_bytes"])])
        self.assertEqual((found["events"]["total"], found["events"]["lost"], self.unusual()), (truth["events"], 0, {}))

    def test_a_process_in_the_background_is_observed_to_its_end(self):
        said = self.run_it(f'"$1" --events 20000 --pace 10 >{TRUTH} & sleep 0.2; exit 4')
        self.assert_complete()
        self.assertEqual(said.count("bash has ended with 4; 1 process that it started goes on" + GOES_ON + "annotated_program ("), 1, said)
        self.assertNotIn("the observation ends", said)

    def test_wherever_it_went(self):
        for how in ("setsid", "nohup setsid", "(setsid bash -c '\"$@\" & disown' bash", "env -C / setsid --fork"):
            with self.subTest(how):
                end = ")" if how.startswith("(") else ""
                said = self.run_it(f'{how} "$1" --events 6000 --pace 10 >{TRUTH} 2>/dev/null {end} & sleep 0.2; exit 4')
                self.assert_complete()
                self.assertNotIn("the observation ends", said)

    def test_a_process_that_reports_only_after_the_end_of_the_command(self):
        for how in ("", "setsid "):
            with self.subTest(how):
                self.run_it(f"{how}bash -c 'sleep 1; exec \"$1\" --events 3000' bash \"$1\" >{TRUTH} & exit 4")
                self.assert_complete()

    def test_what_ends_with_the_command_is_no_news(self):
        said = self.run_it(f'"$1" --events 3000 >{TRUTH}; sleep 0.1 & exit 4')
        self.assert_complete()
        self.assertNotIn("goes on", said)

    def test_a_process_that_is_killed_later_has_reported_everything_until_then(self):
        process = self.start('"$1" --forever --pace 10 & echo $! >pid; exit 4')
        self.wait_until(lambda: GOES_ON in self.stderr(), "the line on what goes on")
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        self.assertEqual(process.wait(timeout=60), 4)
        self.assertGreater(self.report()["events"]["total"], 1000)
        self.assertEqual((self.report()["events"]["lost"], self.unusual()), (0, {}))

    def test_the_observation_ends_on_request_and_the_recording_says_so(self):
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ending):
                process = self.start('"$1" --forever --pace 10 & echo $! >pid; "$1" --events 100; exit 4')
                self.wait_until(lambda: GOES_ON in self.stderr(), "the line on what goes on")
                job = int((self.folder / "pid").read_text())
                process.send_signal(ending)
                self.assertEqual(process.wait(timeout=60), 4)
                os.kill(job, 0)  # It goes on.
                os.kill(job, signal.SIGKILL)
                self.assertIn(f"the observation ends as requested, and annotated_program ({job}) goes on: what it does from now on is not recorded", self.stderr())
                row = self.unusual()["left_running"]
                self.assertEqual((row["severity"], row["count"]), ("warning", 1))
                self.assertIn(f"--forever --pace 10 ({job})", row["example"])
                self.assertGreater(self.report()["events"]["total"], 1000)
                copy = str(self.folder / "copy.hbm")
                subprocess.run([HBMSCOPE, "convert", self.recording, "-o", copy], check=True, capture_output=True)
                self.assertIn("left_running", subprocess.run([HBMSCOPE, "check", copy], capture_output=True, text=True).stdout)

    def test_one_that_has_reported_nothing_yet_is_named_too(self):
        process = self.start("sleep 600 & echo $! >pid; exit 4")
        self.wait_until(lambda: GOES_ON in self.stderr(), "the line on what goes on")
        job = int((self.folder / "pid").read_text())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 4)
        os.kill(job, signal.SIGKILL)
        self.assertIn(f"the observation ends as requested, and sleep 600 ({job}) goes on", self.stderr())

    def test_a_signal_that_ends_the_command_ends_the_observation(self):
        process = self.start('"$1" --forever --pace 10 & echo $! >pid; exec sleep 600')
        self.wait_until(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text().strip(), "the job")
        job = int((self.folder / "pid").read_text())
        self.wait_until(lambda: Path(self.recording).exists(), "the recording")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGTERM)
        os.kill(job, signal.SIGKILL)
        self.assertIn("because a signal ended the command", self.stderr())
        self.assertIn("left_running", self.unusual())

    def test_only_the_command_if_requested(self):
        for options in (["--wait", "command"], ["--no-follow"]):
            with self.subTest(options):
                said = self.run_it('"$1" --forever --pace 10 & echo $! >pid; sleep 0.3; exit 4', *options)
                job = int((self.folder / "pid").read_text())
                os.kill(job, signal.SIGKILL)
                self.assertNotIn("that it started", said)
                if options[0] == "--wait":
                    self.assertIn(f"the observation ends with the command (--wait command), and annotated_program ({job}) goes on", said)
                    self.assertIn("left_running", self.unusual())

    def test_others_that_can_report_nothing_are_not_waited_for(self):
        said = self.run_it("env -i sleep 600 & echo $! >pid; exit 4")
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        self.assertNotIn("goes on", said)

    def test_a_daemon_that_calls_no_driver_is_not_waited_for_to_its_end(self):
        said = self.run_it("setsid sleep 600 & echo $! >pid; exit 4")
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        self.assertRegex(said, r"the observation ends because nothing was reported in the 30 s after \w+ ended, and sleep 600 \(\d+\) goes on")

    def test_adopted_processes_leave_no_zombies(self):
        process = self.start('for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.01 &); done; echo >begun; exec sleep 600')
        self.wait_until((self.folder / "begun").exists, "the job")
        self.wait_until(lambda: len(children(process.pid)) == 1, "the end of the zombies")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGTERM)

    def test_the_verdict_of_a_dry_run_comes_after_the_last_process(self):
        allocate = "import ctypes as C, time; time.sleep(1); cuda = C.CDLL('libcuda.so.1'); at = C.c_uint64(); assert cuda.cuInit(0) == 0; " \
                   "context = C.c_void_p(); assert cuda.cuCtxCreate_v2(C.byref(context), 0, 0) == 0; assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(7 << 30)) == 0"
        words = [HBMSCOPE, "run", "--no-flight", "--emulate", "a100-40", "--json", "--record", self.recording, "--", "/bin/bash", "-c",
                 f'{sys.executable} -c "$1" & exit 0', "bash", allocate]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["devices"][0]["peak_bytes"], 7 << 30, done.stdout)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
