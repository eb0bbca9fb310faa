#!/usr/bin/env python3
"""The flight recorder of hbmscope run: what is left of a job that went wrong, what is not left of one that did not, and
that neither the job nor its standard error notices.

    flight_test.py HBMSCOPE ANNOTATED_PROGRAM EMULATED_DRIVER_FOLDER
"""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

from attaching import MAY_ATTACH, WHY_NOT

HBMSCOPE, PROGRAM, FAKES = sys.argv[1:4]
DRIVER = "import ctypes as C, os, signal, sys; cuda = C.CDLL('libcuda.so.1'); at = C.c_uint64()\n"
TAKES = "take = lambda size: cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(size))\n"


class Flight(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.flights = self.folder / "flights"
        self.recording = self.folder / "run.hbm"
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder.name, LD_LIBRARY_PATH=f"{FAKES}/bound", HBMSCOPE_DEVICE_BYTES="1000000")
        self.environment.pop("TF_BFC_MEMORY_DUMP", None)

    def command(self, *command, options=()):
        return [HBMSCOPE, "run", "--no-window", "--flight", str(self.flights), "--record", str(self.recording), *options, "--", *command]

    def run_it(self, *command, options=(), **more):
        kept = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        kept.update(more)
        return subprocess.run(self.command(*command, options=options), env=self.environment, timeout=120, **kept)

    def run_python(self, script, **more):
        return self.run_it(sys.executable, "-c", DRIVER + TAKES + textwrap.dedent(script), **more)

    def left(self):
        return sorted(self.flights.iterdir()) if self.flights.exists() else []

    def only_one(self, done):
        self.assertEqual(len(self.left()), 1, done.stderr)
        return self.left()[0]

    def report(self, flight):
        done = subprocess.run([HBMSCOPE, "report", str(flight / "recording.hbm"), "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def reported(self, flight):
        return (flight / "what_happened.txt").read_text()

    def test_an_out_of_memory_leaves_all_of_it(self):
        done = self.run_it("sh", "-c", f"echo before >&2; {PROGRAM} --fail; echo after >&2")
        flight = self.only_one(done)
        self.assertEqual(flight.stat().st_mode & 0o777, 0o700)
        self.assertIn("ran out of memory: it requested 3.00 GiB of pool 0 (no region is large enough).", self.reported(flight))
        self.assertIn("It exited with code 0.", self.reported(flight))
        self.assertEqual(self.report(flight)["events"]["oom"], 1)
        tails = sorted(flight.glob("stderr-*.txt"))
        self.assertEqual(tails[-1].read_text(), "before\nafter\n")
        said = [line for line in done.stderr.decode().splitlines() if str(flight) in line]
        self.assertEqual(len(said), 1, done.stderr)

    def test_an_empty_folder_of_a_killed_run_is_removed_by_the_next_one(self):
        abandoned, new, kept, running, other = (self.flights / name for name in ("20260101T000000Z-a-1", "20260101T000000Z-new-2", "20260101T000000Z-kept-3",
                                                                                "20260101T000000Z-running-4", "mine"))
        for folder in (abandoned, new, kept, running, other):
            folder.mkdir(parents=True)
        (kept / "what_happened.txt").write_text("it failed")
        for folder in (abandoned, kept, running, other):
            os.utime(folder, (time.time() - 3600, time.time() - 3600))
        lock = os.open(running, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.assertEqual(self.run_it("true").returncode, 0)
        self.assertEqual(self.left(), sorted([new, kept, running, other]))

    def test_it_is_there_while_the_job_runs_and_when_the_observer_is_killed(self):
        process = subprocess.Popen(self.command("sh", "-c", f"{PROGRAM} --events 100 --fail >&2; exec sleep 60"), stderr=subprocess.PIPE, env=self.environment)
        said = b""
        while b"details are in" not in said:
            said = process.stderr.readline()
            self.assertNotEqual(said, b"")
        job = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        time.sleep(2)  # A block is written when it is one second old.
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        os.kill(job, signal.SIGKILL)
        process.stderr.close()
        flight, = self.left()
        self.assertIn("ran out of memory", self.reported(flight))
        self.assertEqual(self.report(flight)["events"]["oom"], 1)

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_a_job_that_was_attached_to_leaves_one_too(self):
        job = subprocess.Popen([PROGRAM, "--events", "100", "--slow-end", "600", "--fail"], stdout=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        time.sleep(0.3)
        command = [HBMSCOPE, "attach", str(job.pid), "--no-window", "--flight", str(self.flights), "--record", str(self.recording)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        flight = self.only_one(done)
        self.assertIn("hbmscope attached to annotated_progr", self.reported(flight))
        self.assertIn("ran out of memory: it requested 3.00 GiB of pool 0 (no region is large enough).", self.reported(flight))
        self.assertIn("It has ended; its exit code is unknown.", self.reported(flight))
        self.assertEqual(list(flight.glob("stderr-*")), [])
        self.assertEqual(self.report(flight)["events"]["oom"], 1)
        self.assertIn(str(flight), done.stderr)

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_a_detached_job_leaves_none_unless_requested(self):
        job = subprocess.Popen([PROGRAM, "--events", "100", "--slow-end", "10000"], stdout=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        time.sleep(0.3)
        for options, count in (((), 0), (("--no-flight", "--on-exit"), 0), (("--on-exit",), 1)):
            command = [HBMSCOPE, "attach", str(job.pid), "--for", "0.2", "--flight", str(self.flights), "--record", str(self.recording), *options]
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=120)
            self.assertEqual((done.returncode, len(self.left())), (0, count), done.stderr)
        self.assertIn("hbmscope detached; the job keeps running.", self.reported(self.left()[0]))

    def test_a_job_that_ends_well_leaves_nothing(self):
        done = self.run_it(PROGRAM)
        self.assertEqual((done.returncode, self.left()), (0, []), done.stderr)

    def test_refusals_whose_retry_succeeds_leave_nothing(self):
        # Like XLA at start: 0.9 of the size again and again. Like PyTorch: frees its cache and requests the same size
        # again.
        done = self.run_python("""
            size, refused = 3000000, 0
            while take(size) != 0: size, refused = size * 9 // 10, refused + 1
            assert refused > 5
            assert take(900000) == 2 and cuda.cuMemFree_v2(at) == 0 and take(900000) == 0
        """)
        self.assertEqual((done.returncode, self.left()), (0, []), done.stderr)

    def test_a_refusal_without_a_retry_leaves_a_flight(self):
        done = self.run_python("assert take(3000000) == 2; assert take(100) == 0")
        flight = self.only_one(done)
        self.assertIn("the driver refused 2.86 MiB of GPU 0 memory for process ", self.reported(flight))
        self.assertRegex(self.reported(flight), r"\(cuMemAlloc_v2\); [\d.]+ \w+ was free on the device, and no retry followed\.")
        found = self.report(flight)
        self.assertEqual(found["events"]["driver_refusals"], 1)
        # The job has ended, so nothing is pending. It allocated something afterwards, so it did not fail.
        self.assertEqual(found["failures"], [])
        text = subprocess.run([HBMSCOPE, "report", str(flight / "recording.hbm")], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"the driver refused 2\.86 MiB to cuMemAlloc_v2 \([\d.]+ \w+ was free on the device\); no retry followed\. The job may have gone on")

    def test_a_refusal_as_the_last_request_is_the_failure(self):
        flight = self.only_one(self.run_python("assert take(1000) == 0; assert take(3000000) == 2"))
        [failure] = self.report(flight)["failures"]
        self.assertEqual((failure["asked_bytes"], failure["verdict"], failure["reason"], failure["is_pending"]), (3000000, "too_big", "cuMemAlloc_v2", False))
        explained = subprocess.run([HBMSCOPE, "explain", str(flight / "recording.hbm")], capture_output=True, text=True, check=True).stdout
        self.assertRegex(explained, r"Not enough memory on the device: requested 2\.86 MiB, and [\d.]+ \w+ was free\.")

    def test_a_refusal_is_pending_until_its_retry(self):
        script = """
            import sys
            assert take(1500000) == 2
            print("refused", flush=True)
            sys.stdin.readline()
            assert take(800000) == 0
            print("served", flush=True)
            sys.stdin.readline()
        """
        job = subprocess.Popen(self.command(sys.executable, "-c", DRIVER + TAKES + textwrap.dedent(script)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=self.environment)
        for end in (job.stdin, job.stdout):
            self.addCleanup(end.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)

        def pending():
            watch = [HBMSCOPE, "watch", str(job.pid), "--json", "--every", "0.1", "--for", "0.8"]
            done = subprocess.run(watch, capture_output=True, text=True, env=self.environment, check=True, timeout=60)
            last = json.loads(done.stdout.splitlines()[-1])
            return last["pending_requests"], last["pending_bytes"]

        self.assertEqual(job.stdout.readline(), "refused\n")
        self.assertEqual(pending(), (1, 1500000))
        job.stdin.write("\n")
        job.stdin.flush()
        self.assertEqual(job.stdout.readline(), "served\n")
        self.assertEqual(pending(), (0, None))

    def test_a_signal_leaves_a_flight_whose_recording_is_whole(self):
        for one in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL):
            with self.subTest(one):
                before = self.left()
                done = self.run_python(f"""
                    for _ in range(300): assert take(10) == 0
                    print("the last words", file=sys.stderr, flush=True)
                    os.kill(os.getpid(), {int(one)})
                """)
                self.assertEqual(done.returncode, 128 + one, done.stderr)
                flight, = set(self.left()) - set(before)
                self.assertIn(f"killed by {one.name}", self.reported(flight))
                self.assertEqual(self.report(flight)["events"]["alloc"], 300)
                self.assertEqual(sorted(flight.glob("stderr-*.txt"))[-1].read_text(), "the last words\n")

    def test_who_asks_a_job_to_end_is_no_failure(self):
        done = self.run_python("os.kill(os.getpid(), signal.SIGTERM)")
        self.assertEqual((done.returncode, self.left()), (128 + signal.SIGTERM, []))

    def test_a_shells_exit_code_reports_of_a_signal(self):
        done = self.run_it("sh", "-c", "sh -c 'kill -SEGV $$'; exit $?")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        flight = self.only_one(done)
        self.assertIn("killed by SIGSEGV (exit code 139)", self.reported(flight))
        self.assertIn("there is no recording", self.reported(flight))
        self.assertFalse((flight / "recording.hbm").exists())

    def test_on_exit_and_no_flight(self):
        flight = self.only_one(self.run_it(PROGRAM, options=("--on-exit",)))
        self.assertIn("(--on-exit)", self.reported(flight))
        self.run_it(PROGRAM, "--fail", options=("--no-flight",))
        self.assertEqual(self.left(), [flight])

    def test_the_default_folder_is_in_the_state_home(self):
        self.environment["XDG_STATE_HOME"] = str(self.folder / "state")
        subprocess.run([HBMSCOPE, "run", "--no-window", "--record", str(self.recording), "--", PROGRAM, "--fail"], env=self.environment, capture_output=True)
        self.assertEqual(len(list((self.folder / "state" / "hbmscope" / "flights").iterdir())), 1)

    def test_dumps_of_xla_lie_in_the_folder(self):
        writes = "open(os.environ['TF_BFC_MEMORY_DUMP'] + '_GPU_0_bfc.17', 'w').write('dump')\n"
        done = self.run_python(writes + "sys.exit(1)")
        flight = self.only_one(done)
        self.assertEqual((flight / "bfc_memory_dump_GPU_0_bfc.17").read_text(), "dump")
        self.assertIn("XLA's allocator refused a request, and the job exited with code 1", self.reported(flight))
        self.run_python(writes)  # A request that succeeded later.
        self.assertEqual(self.left(), [flight])
        self.environment["TF_BFC_MEMORY_DUMP"] = str(self.folder / "users")
        self.run_python(writes)
        self.assertEqual((self.folder / "users_GPU_0_bfc.17").read_text(), "dump")

    def test_many_failures_are_reported_a_few_times_a_minute(self):
        done = self.run_it("sh", "-c", f"for i in $(seq 30); do {PROGRAM} --events 10 --fail; sleep 0.02; done")
        flight = self.only_one(done)
        reported = self.reported(flight)
        self.assertLessEqual(reported.count("ran out of memory"), 6 + 6 * int(reported.count("s after the start") > 6), reported)
        self.assertRegex(reported, r"And \d+ more out-of-memory errors or refusals, beyond 6 a minute")
        self.assertEqual(self.report(flight)["events"]["oom"], 30)

    def test_only_so_many_are_kept_and_foreign_files_stay(self):
        mine = self.flights / "20200101T000000Z-mine-1"
        mine.mkdir(parents=True)
        (mine / "notes.md").write_text("mine")
        (self.flights / "what_happened.txt").write_text("mine")

        def kept_after(*options):
            self.assertEqual(self.run_it(PROGRAM, "--fail", options=options).returncode, 0)
            self.assertEqual((mine / "notes.md").read_text(), "mine")
            self.assertEqual((self.flights / "what_happened.txt").read_text(), "mine")
            return [path for path in self.left() if path != mine and path.is_dir()]

        self.assertEqual([len(kept_after("--flight-keep", "2")) for _ in range(4)], [1, 2, 2, 2])
        self.assertEqual(len(kept_after("--flight-size", "1KiB")), 1)
        old, new = kept_after("--flight-days", "1")
        for path in old.iterdir():
            os.utime(path, (0, 0))
        kept = kept_after("--flight-days", "1")
        self.assertEqual(len(kept), 2)
        self.assertIn(new, kept)

    def test_one_whose_run_goes_on_is_not_removed(self):
        running = self.flights / "20200101T000000Z-runs-1"
        running.mkdir(parents=True)
        (running / "what_happened.txt").write_text("much")
        held = os.open(running, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.run_it(PROGRAM, "--fail", options=("--flight-keep", "1"))
        self.assertTrue((running / "what_happened.txt").exists())
        os.close(held)
        self.run_it(PROGRAM, "--fail", options=("--flight-keep", "1"))
        self.assertFalse(running.exists())

    def test_a_recording_that_is_made_anew_leaves_the_flights(self):
        flight = self.only_one(self.run_it(PROGRAM, "--events", "100", "--fail"))
        self.assertTrue(os.path.samefile(flight / "recording.hbm", self.recording))
        self.run_it(PROGRAM, "--events", "5000")
        self.assertEqual(self.report(flight)["events"]["total"], 100 + 2)

    def test_a_recording_of_another_file_system_is_copied(self):
        other = Path("/dev/shm")
        if not other.is_dir() or other.stat().st_dev == self.folder.stat().st_dev:
            self.skipTest("there is no other file system in /dev/shm")
        with tempfile.TemporaryDirectory(dir=other) as folder:
            self.recording = Path(folder) / "run.hbm"
            flight = self.only_one(self.run_it(PROGRAM, "--fail"))
            self.assertFalse(os.path.samefile(flight / "recording.hbm", self.recording))
            self.assertEqual(self.report(flight)["events"]["oom"], 1)

    def test_a_folder_that_cant_be_made_costs_the_job_nothing(self):
        self.flights.write_text("a file")
        done = self.run_it(PROGRAM, "--fail")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"the flight recorder is off", done.stderr)
        self.assertTrue(self.recording.exists())

    def test_standard_error_comes_through_byte_for_byte(self):
        done = self.run_it(sys.executable, "-c", "import os, sys; sys.stderr.buffer.write(bytes(range(256)) * 5000); sys.exit(3)", options=("--on-exit",))
        self.assertEqual(done.returncode, 3)
        wanted = bytes(range(256)) * 5000
        self.assertIn(wanted, done.stderr)
        tail = sorted(self.only_one(done).glob("stderr-*.txt"))[-1].read_bytes()
        self.assertTrue(0 < len(tail) <= 65536 and wanted.endswith(tail))

    def test_output_and_error_in_one_pipe_keep_their_order(self):
        script = "import os\nfor i in range(500): os.write(1 + i % 2, b'%d\\n' % i)"
        done = self.run_it(sys.executable, "-c", script, stderr=subprocess.STDOUT)
        numbers = [int(line) for line in done.stdout.split(b"\n") if line.isdigit()]
        self.assertEqual(numbers, list(range(500)))

    def test_a_terminal_and_a_file_stay_what_they_are(self):
        script = "import os, sys, stat; print(os.isatty(2), stat.S_ISREG(os.fstat(2).st_mode)); print('words', file=sys.stderr)"
        end, terminal = pty.openpty()
        done = self.run_it(sys.executable, "-c", script, options=("--on-exit",), stderr=terminal)
        os.close(terminal)
        self.assertEqual(done.stdout, b"True False\n")
        shown = b""
        try:
            while piece := os.read(end, 10000):  # A busy machine hands a terminal's text over in pieces.
                shown += piece
        except OSError:
            pass  # Its other end is closed.
        self.assertIn(b"words", shown)
        os.close(end)
        flight = self.only_one(done)
        self.assertIn("it is a terminal", self.reported(flight))
        self.assertEqual(list(flight.glob("stderr-*")), [])
        with open(self.folder / "log", "wb") as log:
            log.write(b"from before\n")
            log.flush()
            done = self.run_it(sys.executable, "-c", script, options=("--on-exit",), stderr=log)
        self.assertEqual(done.stdout, b"False True\n")
        newest, = set(self.left()) - {flight}
        tail = sorted(newest.glob("stderr-*.txt"))[-1].read_text()
        self.assertIn("words\n", tail)
        self.assertNotIn("from before", tail)

    def test_a_job_outlives_its_observer_and_its_words_come_through(self):
        script = "import sys, time\nprint('begun', flush=True)\nsys.stdin.readline()\nfor i in range(20000): print(i, file=sys.stderr)\nprint('done', flush=True)"
        process = subprocess.Popen(self.command(sys.executable, "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment)
        self.assertEqual(process.stdout.readline(), b"begun\n")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        out, err = process.communicate(b"go\n", timeout=60)
        self.assertEqual(out, b"done\n")
        self.assertTrue(err.endswith(b"\n19999\n"))

    def test_a_closed_reader_is_reported_to_the_job(self):
        # As without hbmscope: the job is ended by SIGPIPE, or gets an error.
        script = "import os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: os.write(2, b'x' * 1000)"
        process = subprocess.Popen(self.command(sys.executable, "-c", script), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=self.environment)
        process.stderr.read(100000)
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGPIPE)

    def test_what_still_writes_in_the_background_is_not_waited_for(self):
        begun = time.monotonic()
        process = subprocess.Popen(self.command("sh", "-c", "(sleep 30; echo late >&2) >/dev/null & echo soon >&2", options=("--wait", "command")), stderr=subprocess.PIPE,
                                   env=self.environment)
        self.assertEqual(process.wait(timeout=25), 0)
        self.assertLess(time.monotonic() - begun, 25)
        process.stderr.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
