#!/usr/bin/env python3
"""hbmscope run, on programs that know what is true: what they allocated must be what the recording holds, whoever is
killed or slow meanwhile.

    run_test.py HBMSCOPE ANNOTATED_PROGRAM LOADS_LIBRARY LIBRARY
"""

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from own_folder import OwnFolderTest

HBMSCOPE, PROGRAM, LOADS_LIBRARY, LIBRARY = sys.argv[1:5]
BLOCK_SECONDS = 1.0  # The most that a kill of the recorder may cost.


def new_control_group(limit):
    """A group for memory in our own one, of version 1 or 2; None: we may not, or cannot here."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        for root in (f"/sys/fs/cgroup/{controllers}{path}", f"/sys/fs/cgroup/{controllers}"):
            group = Path(root, f"hbmscope-test-{os.getpid()}")
            try:
                group.mkdir()
            except OSError:
                continue
            try:
                Path(group, "memory.limit_in_bytes" if controllers else "memory.max").write_text(str(limit))
                return group
            except OSError:
                group.rmdir()
    return None


def report(path, *options):
    done = subprocess.run([HBMSCOPE, "report", path, "--json", *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Run(OwnFolderTest):
    def command(self, *command):
        return [HBMSCOPE, "run", "--record", self.recording, "--", *command]

    def run_it(self, *command):
        return subprocess.run(self.command(*command), capture_output=True, text=True, env=self.environment, timeout=300)

    def start(self, *command):
        process = subprocess.Popen(self.command(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def job_of(self, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        for _ in range(500):
            for pid in children.read_text().split():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one of the program's own that has just ended
                    if Path(f"/proc/{pid}/comm").read_text().strip() == Path(PROGRAM).name[:15]:
                        return int(pid)
            time.sleep(0.01)
        self.fail("the job did not start")

    def assert_heaps_are(self, truth, found):
        by_name = {heap["name"]: heap for heap in found["heaps"]}
        self.assertEqual(sorted(by_name), sorted(heap["name"] for heap in truth["heaps"]))
        for heap in truth["heaps"]:
            for key in ("live_blocks", "in_use_bytes", "requested_bytes"):
                self.assertEqual(by_name[heap["name"]][key], heap[key], f"{heap['name']}: {key}")
            self.assertEqual(by_name[heap["name"]]["pool_bytes"], 4096 * 4096)

    def test_recording_holds_what_the_program_did(self):
        done = self.run_it(PROGRAM, "--threads", "4", "--events", "50000", "--fail")
        self.assertEqual(done.returncode, 0, done.stderr)
        truth, found = json.loads(done.stdout), report(self.recording)
        self.assert_heaps_are(truth, found)
        self.assertEqual(found["events"]["total"], sum(heap["events"] for heap in truth["heaps"]))
        self.assertEqual(found["events"]["lost"], 0)
        self.assertEqual(found["events"]["oom"], 1)
        failure = found["failures"][0]
        self.assertEqual(failure["asked_bytes"], 3 << 30)
        self.assertIn(" (0 lost) saved in ", done.stderr)
        by_line = subprocess.run([HBMSCOPE, "report", self.recording, "--by", "line"], capture_output=True, text=True, check=True).stdout
        self.assertIn("model.py:42", by_line)

    # The limit also counts for shared memory: a job that makes more would be killed by SIGXFSZ.
    def test_a_job_with_a_limit_on_its_files_is_recorded_or_runs_without_us(self):
        for limit, is_recorded in ((1 << 30, True), (100 << 20, True), (4 << 20, False), (0, False)):
            done = subprocess.run(self.command(PROGRAM, "--threads", "2", "--events", "1000"), capture_output=True, text=True, timeout=60,
                                  env=self.environment, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))  # noqa: B023
            self.assertEqual(done.returncode, 0, f"with a limit of {limit}: {done.stderr}")
            truth = json.loads(done.stdout)
            if is_recorded:
                self.assert_heaps_are(truth, report(self.recording))
            else:
                self.assertEqual(done.stderr.count("its limit on the size of files (ulimit -f) leaves no room for shared memory"), 1, done.stderr)

    def test_a_job_in_a_tight_control_group_lives(self):
        group = new_control_group(200 << 20)
        if group is None:
            self.skipTest("no control group for memory can be made here")
        self.addCleanup(os.rmdir, group)
        done = subprocess.run(self.command(PROGRAM, "--threads", "100", "--events", "40000"), capture_output=True, text=True, timeout=120, env=self.environment,
                              preexec_fn=lambda: Path(group, "cgroup.procs").write_text(str(os.getpid())))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" MiB of memory left, of which hbmscope's buffers in the job take at most ", done.stderr)
        found = report(self.recording)
        # After a loss the listing of what is live adds events.
        self.assertGreaterEqual(found["events"]["total"] + found["events"]["lost"], sum(heap["events"] for heap in json.loads(done.stdout)["heaps"]))

    def test_secrets_in_arguments_are_not_recorded(self):
        self.environment["XLA_FLAGS"] = "--xla_gpu_autotune_level=2 --xla_service_token=hunter2"
        done = self.run_it(PROGRAM, "--events", "10", "--password=hunter2", "--wandb-api-key", "hunter2", "--lr", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        for options in ([], ["--json"]):
            text = subprocess.run([HBMSCOPE, "report", self.recording, *options], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("hunter2", text)
            self.assertIn("--events 10 --password=*** --wandb-api-key *** --lr 3", text)
        self.assertIn("--xla_gpu_autotune_level=2 --xla_service_token=***", text)
        shared = str(self.folder / "shared.hbm")
        subprocess.run([HBMSCOPE, "convert", self.recording, "-o", shared, "--strip-paths"], capture_output=True, check=True)
        text = subprocess.run([HBMSCOPE, "report", shared, "--json"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("--lr", text)
        self.assertIn("--xla_gpu_autotune_level=2 --xla_service_token=…", text)

    def test_a_line_to_a_closed_standard_error_ends_nobody(self):
        reading, writing = os.pipe()
        os.close(reading)
        unread = ("import os, resource, signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL); "
                  "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); os.execv(sys.argv[1], sys.argv[1:])")
        command = [HBMSCOPE, "run", "--no-flight", "--record", self.recording, "--", sys.executable, "-c", unread, PROGRAM, "--events", "100"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing, env=self.environment, timeout=60)
        os.close(writing)
        self.assertEqual((done.returncode, bool(done.stdout)), (0, True))

    def test_a_library_that_is_loaded_later_is_listened_to(self):
        done = self.run_it(LOADS_LIBRARY, LIBRARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = report(self.recording)
        self.assertEqual([(heap["name"], heap["device"], heap["in_use_bytes"], heap["requested_bytes"]) for heap in found["heaps"]],
                         [("late pool", 1, 512, 400)])

    def test_every_process_of_a_job_is_a_stream(self):
        done = self.run_it("sh", "-c", f"{PROGRAM} --events 100 >/dev/null & {PROGRAM} --events 200 --seed 2 >/dev/null; wait")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 2 processes", done.stderr)
        self.assertEqual(report(self.recording)["events"]["total"], 100 + 1 + 200 + 1)

    def test_the_rings_of_a_process_that_ended_are_given_up(self):
        process = self.start("sh", "-c", f"for i in $(seq 40); do {PROGRAM} --events 10; done >/dev/null; echo done; exec sleep 60")
        self.assertEqual(process.stdout.readline(), "done\n")
        deadline = time.monotonic() + 30
        mapped = 1
        while mapped > 0 and time.monotonic() < deadline:
            mapped = Path(f"/proc/{process.pid}/maps").read_text().count("memfd:hbmscope")
            time.sleep(0.01)
        process.terminate()
        err = process.communicate()[1]
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, err)
        self.assertEqual(mapped, 0)
        found = report(self.recording)
        self.assertEqual(found["events"]["total"], 40 * 11, err)
        self.assertEqual(found["events"]["lost"], 0)

    def test_processes_that_end_while_they_are_taken_in_are_taken_in(self):
        for _ in range(5):
            done = self.run_it("sh", "-c", f"for i in $(seq 40); do {PROGRAM} --events 10; done >/dev/null")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(" of 40 processes (0 lost)", done.stderr)

    def test_a_command_that_reports_nothing_leaves_no_recording(self):
        done = self.run_it("sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("no process of this command allocated device memory", done.stderr)
        self.assertFalse(os.path.exists(self.recording))

    def test_a_command_that_reports_nothing_leaves_what_was_recorded_before(self):
        Path(self.recording).write_text("of yesterday")
        done = self.run_it("sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("was not changed", done.stderr)
        self.assertEqual(Path(self.recording).read_text(), "of yesterday")
        self.assertEqual(self.run_it(PROGRAM, "--events", "10").returncode, 0)
        self.assertNotIn(b"of yesterday", Path(self.recording).read_bytes())
        self.assertEqual([file.name for file in Path(self.recording).parent.glob("run.hbm*")], [Path(self.recording).name])

    def test_a_command_that_is_not_there_leaves_what_was_recorded_before(self):
        Path(self.recording).write_text("of yesterday")
        self.assertEqual(self.run_it(str(self.folder / "missing")).returncode, 127)
        self.assertEqual(Path(self.recording).read_text(), "of yesterday")

    def test_under_nohup_the_job_is_under_nohup_too(self):
        done = subprocess.run(["sh", "-c", 'trap "" HUP INT; exec "$@"', "sh", *self.command("sh", "-c", "kill -HUP $$; kill -INT $$; echo lives")],
                              capture_output=True, text=True, env=self.environment, timeout=60)
        self.assertEqual(done.stdout, "lives\n", done.stderr)

    def test_a_viewer_that_goes_away_in_the_middle_of_all_that_was_ends_nobody(self):
        process = self.start(PROGRAM, "--forever", "--pace", "300")
        self.job_of(process)
        time.sleep(1)
        for i in range(20):
            viewer = subprocess.Popen([HBMSCOPE, "watch", str(process.pid), "--every", "0.05"], stdout=subprocess.DEVNULL, env=self.environment)
            time.sleep(0.02 + 0.005 * i)
            viewer.kill()
            viewer.wait()
        self.assertIsNone(process.poll())

    def test_a_command_that_is_not_there(self):
        done = self.run_it(str(self.folder / "missing"))
        self.assertEqual(done.returncode, 127)
        self.assertIn(": No such file or directory", done.stderr)

    def test_a_killed_job_has_reported_everything_until_then(self):
        for _ in range(5):
            # So slow that a ring holds most of a second: nothing is lost even on a busy machine.
            process = self.start(PROGRAM, "--forever", "--pace", "200")
            job = self.job_of(process)
            time.sleep(random.uniform(0.05, 0.3))
            os.kill(job, signal.SIGKILL)
            printed = [int(line) for line in process.stdout.read().split()]
            self.assertEqual(process.wait(), 128 + signal.SIGKILL, process.stderr.read())
            found = report(self.recording)
            self.assertEqual(found["events"]["lost"], 0)
            if printed:
                self.assertGreaterEqual(found["events"]["total"], printed[-1])

    def test_an_observer_that_is_killed_leaves_the_job_alone(self):
        process = self.start(PROGRAM, "--forever", "--pace", "1000")
        job = self.job_of(process)
        self.addCleanup(lambda: os.kill(job, signal.SIGKILL))
        time.sleep(2.5)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = int(process.stdout.readline())
        deadline = time.monotonic() + 20
        while True:  # The job continues, even when its rings are full.
            after = int(process.stdout.readline())
            if after > before + 2_000_000 or time.monotonic() > deadline:
                break
        self.assertGreater(after, before)
        found = report(self.recording)
        self.assertGreater(found["events"]["total"], 0)
        state = subprocess.run([HBMSCOPE, "check", self.recording], capture_output=True, text=True)
        self.assertIn("recording", state.stdout, state.stderr)

    def test_who_comes_later_need_not_fetch_what_was_and_what_is_damaged_is_made_good(self):
        for seconds in (1.5, 2, 2.5, 3):  # A viewer that is quick may have all that was before its wish is known.
            process = self.start(PROGRAM, "--threads", "2", "--events", "700000", "--pace", "200")
            self.job_of(process)
            time.sleep(seconds)
            viewer = subprocess.run([HBMSCOPE, "watch", str(process.pid), "--from-now", "--json", "--every", "0.1"], capture_output=True,
                                    text=True, env=self.environment, timeout=300)
            out, err = process.communicate(timeout=300)
            self.assertEqual(viewer.returncode, 0, viewer.stderr)
            truth, seen = json.loads(out), json.loads(viewer.stdout.splitlines()[-1])
            if "skipped" in seen["events"]:
                break
            self.assertEqual(seen["events"]["total"], report(self.recording)["events"]["total"])
            Path(self.recording).unlink()
        found = report(self.recording)
        self.assertEqual(found["events"]["lost"], 0, err)
        self.assertGreater(seen["events"]["skipped"], 0)
        self.assertEqual(seen["events"]["lost"], 0)
        self.assertLess(seen["events"]["total"], found["events"]["total"])
        self.assert_heaps_are(truth, seen)
        self.assert_heaps_are(truth, found)
        # The recording contains a keyframe after its first million events.
        with open(self.recording, "r+b") as file:
            file.seek(200_000)
            file.write(bytes(64))
        damaged = report(self.recording)
        self.assertGreater(damaged["events"]["lost"], 0)
        self.assertEqual([heap["is_inexact"] for heap in damaged["heaps"]], [False] * len(truth["heaps"]))
        self.assert_heaps_are(truth, damaged)

    def test_after_a_loss_the_heap_is_exact_again(self):
        # A ring holds most of a second, and the last events arrive slowly: the last losses are in no listing any more.
        for seconds in (1.5, 3, 6):  # On a busy machine the job takes longer to fill its rings.
            process = self.start(PROGRAM, "--threads", "2", "--events", "800000", "--pace", "200", "--slow-end", "200")
            self.job_of(process)
            time.sleep(0.1)
            os.kill(process.pid, signal.SIGSTOP)  # The observer sleeps, the rings fill.
            time.sleep(seconds)
            os.kill(process.pid, signal.SIGCONT)
            out, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, err)
            truth, found = json.loads(out), report(self.recording)
            if found["events"]["lost"] > 0:
                break
            Path(self.recording).unlink()
        sent = sum(heap["events"] for heap in truth["heaps"])
        self.assertGreater(found["events"]["lost"], 0, err)
        print(f"{sent:,} sent, {found['events']['lost']:,} lost", file=sys.stderr)
        self.assert_heaps_are(truth, found)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
