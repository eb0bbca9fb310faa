#!/usr/bin/env python3
"""hbmscope attach, detach, ps and watch as commands, on a program that was started without hbmscope.

    attach_commands_test.py HBMSCOPE ATTACH_TARGET ATTACH_STATIC_TARGET
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

HBMSCOPE, TARGET, STATIC_TARGET = sys.argv[1:4]
BLOCKS, BLOCK_BYTES = 101, 2048  # The live blocks of the annotated target after each of its rounds.


class Attach(AttachTest):
    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        for closed in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(closed)
        return process

    def target(self, kind="annotated", program=TARGET):
        process = self.start(program, kind, "60")
        self.assertEqual(process.stdout.readline(), "begun\n")
        return process

    def end(self, target, kind="annotated"):
        target.send_signal(signal.SIGUSR2)
        self.assertEqual(target.communicate(timeout=30)[0], f"{kind}: 0 wrong\n")
        self.assertEqual(target.returncode, 0)

    def run_it(self, *words):
        return subprocess.run([HBMSCOPE, *words], capture_output=True, text=True, env=self.environment, timeout=60)

    def attach(self, job, *words):
        return self.start(HBMSCOPE, "attach", str(job), "--record", self.recording, *words)

    def attached(self, target):
        attaching = self.attach(target.pid)
        self.assertIn("attached to", attaching.stderr.readline())
        return attaching

    def pjrt_plugin(self):
        """Some library by the name of a plugin."""
        path = self.folder / "libpjrt_plugin.so"
        path.write_bytes(Path(TARGET).parent.joinpath("libannotated_library.so").read_bytes())
        return str(path)

    def report(self):
        return json.loads(self.run_it("report", self.recording, "--json").stdout)

    def test_the_recording_holds_what_lived_before_and_what_came_after(self):
        target = self.target()
        time.sleep(0.2)
        done = self.run_it("attach", str(target.pid), "--record", self.recording, "--for", "500ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.end(target)
        report = self.report()
        self.assertGreater(report["events"]["alloc"], 100)
        self.assertEqual(report["events"]["lost"], 0)
        [heap] = report["heaps"]
        # Let go in the middle of a turn: one or two blocks to and fro.
        self.assertLessEqual(abs(heap["in_use_bytes"] // BLOCK_BYTES - BLOCKS), 2)
        events = self.run_it("export", self.recording, "--to", "csv", "--what", "events").stdout
        self.assertIn("attached", events)

    def test_ctrl_c_lets_go(self):
        target = self.target()
        attaching = self.attached(target)
        time.sleep(0.3)
        attaching.send_signal(signal.SIGINT)
        self.assertIn("events of 1 process", attaching.communicate(timeout=30)[1])
        self.assertEqual(attaching.returncode, 0)
        threads = len(list(Path(f"/proc/{target.pid}/task").iterdir()))
        self.assertEqual(threads, 5)
        self.end(target)

    def test_one_at_a_time_watched_by_many_and_let_go_by_anyone(self):
        target = self.target()
        attaching = self.attached(target)
        again = self.run_it("attach", str(target.pid), "--record", str(self.folder / "other.hbm"))
        self.assertNotEqual(again.returncode, 0)
        self.assertIn(f"{target.pid} is already observed by hbmscope {attaching.pid}", again.stderr)
        self.assertFalse((self.folder / "other.hbm").exists())
        # A part of the command finds the process that is observed, even if others have the same name.
        other = self.target()
        named = self.run_it("watch", f"{Path(TARGET).name} ANNOTATED", "--for", "1.2s", "--json")
        self.assertEqual(named.returncode, 0, named.stderr)
        advised = self.run_it("watch", str(other.pid))
        self.assertEqual(advised.returncode, 2)
        self.assertIn(f"none of your hbmscope processes observes process {other.pid}. Attach to it with hbmscope attach {other.pid}", advised.stderr)
        self.assertIn(f"hbmscope watch {other.pid} --totals", advised.stderr)
        self.end(other)
        watch = self.run_it("watch", str(target.pid), "--for", "1.2s", "--every", "500ms", "--json")
        self.assertEqual(watch.returncode, 0, watch.stderr)
        self.assertGreaterEqual(len(watch.stdout.splitlines()), 1)
        [job] = [job for job in json.loads(self.run_it("ps", "--json").stdout)["jobs"] if job["pid"] == target.pid]
        self.assertEqual(job["observer"], attaching.pid)
        self.assertFalse(job["can_attach"])
        detach = self.run_it("detach", str(target.pid))
        self.assertEqual((detach.returncode, detach.stderr), (0, ""))
        self.assertEqual(attaching.wait(timeout=10), 0)
        self.assertNotEqual(self.run_it("detach", str(target.pid)).returncode, 0)
        self.end(target)

    def test_a_job_that_run_started_is_not_let_go(self):
        run = self.start(HBMSCOPE, "run", "--record", self.recording, "--", TARGET, "annotated", "60")
        self.assertEqual(run.stdout.readline(), "begun\n")
        [job] = [job for job in json.loads(self.run_it("ps", "--json").stdout)["jobs"] if job["observer"] == run.pid]
        detach = self.run_it("detach", str(job["pid"]))
        self.assertIn("was started by hbmscope", detach.stderr)
        attach = self.run_it("attach", str(job["pid"]))
        self.assertIn("is already observed by hbmscope", attach.stderr)
        os.kill(job["pid"], signal.SIGUSR2)
        run.communicate(timeout=30)
        self.assertEqual(run.returncode, 0)

    def test_the_end_of_the_job_is_the_end(self):
        target = self.target()
        attaching = self.attached(target)
        time.sleep(0.2)
        target.kill()
        attaching.communicate(timeout=30)
        self.assertEqual(attaching.returncode, 0)
        self.assertGreater(self.report()["events"]["alloc"], 0)

    def test_all_ranks_of_a_job_at_once(self):
        path = self.folder / "ranks-target"
        path.symlink_to(TARGET)
        ranks = [self.target(program=str(path)) for _ in range(3)]
        several = self.run_it("attach", "Ranks-Target annot", "--record", self.recording)
        self.assertIn('3 jobs have commands that contain "Ranks-Target annot"', several.stderr)
        for rank in ranks:
            self.assertIn(f"\n  {rank.pid}  {path} annotated 60\n", several.stderr)
        held = self.attach(ranks[0].pid, "--for", "1m")
        self.assertIn("attached to", held.stderr.readline())
        done = self.run_it("attach", str(ranks[1].pid), "--all", "--record", str(self.folder / "all.hbm"), "--for", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{ranks[0].pid} is already observed by hbmscope {held.pid}", done.stderr)
        for rank in ranks[1:]:
            self.assertIn(f"attached to {rank.pid}", done.stderr)
        self.assertIn("events of 2 processes", done.stderr)
        report = json.loads(self.run_it("report", str(self.folder / "all.hbm"), "--json").stdout)
        self.assertEqual(len({heap["stream"] for heap in report["heaps"]}), 2)
        self.run_it("detach", str(ranks[0].pid))
        for rank in ranks:
            self.end(rank)

    def test_a_job_is_named_by_a_part_of_its_command(self):
        target = self.target()
        unknown = self.run_it("attach", "no-such-job-anywhere")
        self.assertIn("no job has a command that contains", unknown.stderr)
        # Another test of this kind may run at the same time.
        path = self.folder / "named-target"
        path.symlink_to(TARGET)
        named = self.target(program=str(path))
        done = self.run_it("attach", "named-target annot", "--record", self.recording, "--for", "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"attached to {named.pid}", done.stderr)
        self.end(named)
        self.end(target)

    def test_refusals_leave_no_recording(self):
        static = self.target(program=STATIC_TARGET)
        jobs = [(static.pid, "linked statically"), (2**22 + 1, "no such process"), (99999999999, "cannot attach to 99999999999: there is no such process")]
        # Skipped where only our own processes are visible.
        statuses = {path.parent.name: path.read_text() for path in Path("/proc").glob("[0-9]*/status")}
        kernels = [int(pid) for pid, text in statuses.items() if "VmSize" not in text and "State:\tZ" not in text]
        jobs += [(pid, "it is a kernel thread") for pid in sorted(kernels)[:1]]
        for job, words in jobs:
            done = self.run_it("attach", str(job), "--record", self.recording)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse(Path(self.recording).exists())

    def built(self, compiler, *words, name, source):
        """Its path, or the test is skipped: not every machine can make programs for others."""
        (self.folder / name).write_text(source)
        program = str(self.folder / name.split(".")[0])
        try:
            done = subprocess.run([compiler, *words, str(self.folder / name), "-o", program], capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest(f"there is no {compiler}")
        if done.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(words)}: {done.stderr}")
        return program

    def assert_is_refused(self, program, words):
        try:
            process = self.start(program)
        except OSError as error:  # A kernel without such programs.
            self.skipTest(str(error))
        self.assertEqual(process.stdout.readline(), "begun\n")
        done = self.run_it("attach", str(process.pid), "--record", self.recording)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertIsNone(process.poll())

    def test_a_program_with_another_c_library_is_refused(self):
        source = '#include <unistd.h>\nint main() { write(1, "begun\\n", 6); for (;;) pause(); }\n'
        program = self.built("musl-gcc", name="pauses.c", source=source)
        self.assert_is_refused(program, "its C library is musl, and the collector needs glibc. Use an image with glibc.")

    def test_a_program_of_32_bits_is_refused(self):
        source = """
            .globl _start
            _start: mov $4, %eax; mov $1, %ebx; mov $said, %ecx; mov $6, %edx; int $0x80  # write()
            again: mov $29, %eax; int $0x80; jmp again  # pause()
            said: .ascii "begun\\n"
        """
        program = self.built("gcc", "-m32", "-nostdlib", "-static", name="pauses.S", source=source)
        self.assert_is_refused(program, "it is not a 64-bit x86-64 program")

    @unittest.skipUnless(os.getuid() == 0, "only root can be somebody else")
    def test_ps_says_how_many_it_may_not_look_at(self):
        target = self.target()
        nobody = {"env": {"PATH": os.environ["PATH"]}, "user": 65534, "capture_output": True, "text": True, "timeout": 60}
        try:
            listing = json.loads(subprocess.run([HBMSCOPE, "ps", "--json"], **nobody).stdout)
        except PermissionError:
            self.skipTest("this folder is not everybody's")
        self.assertNotIn(target.pid, [job["pid"] for job in listing["jobs"]])
        self.assertGreater(listing["not_looked_at"], 0)
        said = subprocess.run([HBMSCOPE, "ps"], **nobody).stdout
        self.assertRegex(said, "[0-9]+ more belong to other users or are protected; run with sudo to see all")
        self.assertNotIn("No process here has", said)
        self.end(target)

    def test_ps_lists_what_could_hold_device_memory(self):
        target, other = self.target(), self.target("sleep")
        jobs = {job["pid"]: job for job in json.loads(self.run_it("ps", "--json").stdout)["jobs"]}
        self.assertNotIn(other.pid, jobs)
        job = jobs[target.pid]
        self.assertTrue(job["is_annotated"] and job["can_attach"])
        self.assertFalse(job["has_cuda"] or job["has_pjrt"] or job["has_collector"])
        self.assertEqual((job["visible"], job["pools"]), ("heaps of annotated allocators", []))
        self.assertEqual(job["command"], f"{TARGET} annotated 60")
        self.assertIn(f"hbmscope attach {target.pid}", self.run_it("ps").stdout)
        lines = self.start(sys.executable, "-c", "import ctypes, sys, time\nctypes.CDLL(sys.argv[1])\nprint('begun', flush=True)\ntime.sleep(60)", self.pjrt_plugin())
        self.assertEqual(lines.stdout.readline(), "begun\n")
        self.assertIn(" -c import ctypes, sys, time ctypes.CDLL(sys.argv[1])", self.run_it("ps").stdout)
        repeated = self.start(HBMSCOPE, "ps", "--json", "--every", "0.1")
        lines = [json.loads(repeated.stdout.readline()) for _ in range(3)]
        self.assertTrue(all("jobs" in line for line in lines))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
