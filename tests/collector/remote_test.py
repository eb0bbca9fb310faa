#!/usr/bin/env python3
"""hbmscope on another machine, by a stand-in for ssh that runs the commands here with another home (stand_in_ssh.py).

    remote_test.py HBMSCOPE SERVER_BUNDLE ANNOTATED_PROGRAM ATTACH_TARGET
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from attaching import AttachTest

HBMSCOPE, BUNDLE, PROGRAM, TARGET = sys.argv[1:5]
STAND_IN = Path(__file__).with_name("stand_in_ssh.py")
HOST = "far.example"


class Remote(AttachTest):
    def setUp(self):
        super().setUp()
        self.far = self.folder / "far"
        self.far.mkdir()
        self.environment |= {
            "FAR_FOLDER": str(self.far),
            "HBMSCOPE_SSH": f"{sys.executable} {STAND_IN}",
            "HBMSCOPE_SERVER_BUNDLE": BUNDLE,
        }
        self.addCleanup(self.end_what_is_left)

    def end_what_is_left(self):
        """Observers of failed tests, which would wait for their viewers: by the sockets in a runtime folder of ours."""
        for socket in (self.far / "runtime" / "hbmscope").glob("view-*"):
            try:
                os.kill(int(socket.name[5:]), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def report(self, **words):
        for name, text in words.items():
            (self.far / name).write_text(str(text))

    def start(self, *command):
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, cwd=self.folder
        )
        for closed in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(closed)
        return process

    def run_it(self, *words):
        return subprocess.run(
            [HBMSCOPE, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=120
        )

    def install(self):
        done = self.run_it("ps", HOST, "--json", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def target(self):
        process = self.start(TARGET, "annotated", "60")
        self.assertEqual(process.stdout.readline(), "begun\n")
        return process

    def end(self, target):
        target.send_signal(signal.SIGUSR2)
        self.assertEqual(target.communicate(timeout=30)[0], "annotated: 0 wrong\n")

    def wait_for(self, what, seconds=30):
        until = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), until, "it did not happen")
            time.sleep(0.05)

    def sums(self, recording):
        done = self.run_it("report", str(recording), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        return report["events"], report["heaps"]

    def far_recordings(self):
        return sorted((self.far / "home" / ".local/state/hbmscope/far").glob("*/recording.hbm"))

    def assert_same_as_there(self, recording):
        [there] = self.far_recordings()
        self.assertEqual(self.sums(recording), self.sums(there))
        events = [self.run_it("export", str(one), "--to", "csv", "--what", "events").stdout for one in (recording, there)]
        self.assertGreater(len(events[0].splitlines()), 100)
        self.assertEqual(events[0], events[1])

    def folder_there(self):
        [folder] = (self.far / "home" / ".cache/hbmscope").iterdir()
        return folder


class Carrying(Remote):
    def test_without_a_terminal_there_is_no_prompt_and_nothing_is_copied(self):
        done = self.run_it("ps", HOST)
        self.assertEqual(done.returncode, 2)
        self.assertIn("far.example: hbmscope is not there yet", done.stderr)
        self.assertIn("--yes", done.stderr)
        self.assertFalse((self.far / "home" / ".cache").exists())

    def test_it_is_copied_once_and_other_output_does_not_matter(self):
        self.report(banner="*** Authorized use only ***\n")
        self.install()
        self.assertEqual(self.folder_there().stat().st_mode & 0o777, 0o700)
        again = self.run_it("ps", HOST)
        self.assertEqual(again.returncode, 0, again.stderr)
        commands = (self.far / "commands").read_text()
        self.assertEqual(commands.count("tar "), 1)
        self.assertEqual({line.split()[0] for line in commands.splitlines()}, {HOST})

    def test_what_the_machine_prints_does_not_reach_the_terminal_raw(self):
        self.install()
        shell = self.far / "hostile_shell"
        shell.write_text("#!/bin/sh\nprintf '\\033]0;title\\007\\n'\nprintf '\\033[2J\\n' >&2\nexec /bin/sh \"$@\"\n")
        shell.chmod(0o755)
        self.report(shell=str(shell), banner="\x1b[31mbanner\n")
        done = self.run_it("ps", HOST)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("]0;title", done.stdout)
        self.assertIn("banner", done.stderr)
        for text in (done.stdout, done.stderr):
            self.assertFalse({"\x1b", "\x07"} & set(text), text)

    def test_a_damaged_copy_is_copied_anew(self):
        self.install()
        with open(self.folder_there() / "hbmscope", "r+b") as program:
            program.seek(5000)
            program.write(b"\0\0\0\0damaged")
        done = self.run_it("ps", HOST)
        self.assertIn("is not there yet", done.stderr)
        self.install()

    def test_a_copy_that_breaks_off_leaves_nothing(self):
        broken = self.folder / "broken"
        shutil.copytree(BUNDLE, broken)
        archive = (broken / "bundle.tar.gz").read_bytes()
        (broken / "bundle.tar.gz").write_bytes(archive[: len(archive) // 2])
        self.environment["HBMSCOPE_SERVER_BUNDLE"] = str(broken)
        done = self.run_it("ps", HOST, "--yes")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("far.example answered with exit code", done.stderr)
        self.assertEqual(list((self.far / "home" / ".cache/hbmscope").iterdir()), [])

    def test_refusals_have_words(self):
        self.report(refuse="ssh: connect to host far.example port 22: Connection refused\n")
        for command in (("ps", HOST), ("attach", f"{HOST}:4711"), ("run", "--on", HOST, "--", "true"), ("watch", f"{HOST}:4711")):
            done = self.run_it(*command)
            self.assertIn("cannot reach far.example: ssh: connect to host far.example port 22: Connection refused", done.stderr)
            self.assertNotEqual(done.returncode, 0)
        (self.far / "refuse").unlink()
        for name, text, words in (
            ("machine", "Linux aarch64", "has the architecture aarch64"),
            ("machine", "Darwin arm64", "runs Darwin"),
            ("glibc", "glibc 2.12", "has glibc 2.12, and the collector needs 2.18"),
            ("glibc", "musl", "has no glibc"),
        ):
            self.report(**{name: text})
            done = self.run_it("ps", HOST, "--yes")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"far.example {words}", done.stderr)
            shutil.rmtree(self.far / "bin")
            (self.far / name).unlink()
        self.assertFalse((self.far / "home" / ".cache").exists())

    def test_what_others_can_change_is_not_started(self):
        self.install()
        self.folder_there().chmod(0o777)
        done = self.run_it("ps", HOST)
        self.assertIn("is writable by others (mode 777)", done.stderr)
        self.folder_there().chmod(0o700)
        if os.getuid() == 0:
            os.chown(self.folder_there(), 4242, -1)
            done = self.run_it("ps", HOST)
            self.assertIn("belongs to another user, number 4242", done.stderr)

    def test_what_is_no_host_is_none(self):
        for host in ("-oProxyCommand=true", "a b", "a;b", "$(true)"):
            self.assertEqual(self.run_it("ps", "--on", host).returncode, 2)
        self.assertFalse((self.far / "commands").exists())
        # A part of a command here that looks like a job elsewhere is no job elsewhere.
        path = self.folder / "worker:3"
        path.symlink_to(TARGET)
        target = self.start(str(path), "annotated", "60")
        target.stdout.readline()
        done = self.run_it("attach", "worker:3")
        self.assertIn("or part of a command on this one", done.stderr)
        self.assertFalse((self.far / "commands").exists())


class Jobs(Remote):
    def test_ps_lists_the_jobs_there(self):
        target = self.target()
        listing = self.install()
        [job] = [job for job in listing["jobs"] if job["pid"] == target.pid]
        self.assertTrue(job["can_attach"])
        self.assertIn(f"hbmscope attach {HOST}:{target.pid}", self.run_it("ps", HOST).stdout)

    def attached(self, target):
        attaching = self.start(HBMSCOPE, "attach", f"{HOST}:{target.pid}", "--record", self.recording)
        self.assertIn("attached to", attaching.stderr.readline())
        return attaching

    def test_attach_records_here_what_is_recorded_there_and_ctrl_c_lets_go(self):
        self.install()
        target = self.target()
        attaching = self.attached(target)
        watch = self.run_it("watch", f"{HOST}:{target.pid}", "--for", "1.2", "--every", "0.5", "--json")
        self.assertEqual(watch.returncode, 0, watch.stderr)
        self.assertGreaterEqual(len(watch.stdout.splitlines()), 1)
        attaching.send_signal(signal.SIGINT)
        said = attaching.communicate(timeout=30)[1]
        self.assertEqual(attaching.returncode, 0, said)
        self.assertIn("events of 1 process on far.example (0 lost)", said)
        self.end(target)
        self.assert_same_as_there(self.recording)

    def test_totals_alone_of_a_job_there(self):
        self.install()
        target = self.target()
        self.report(nvml_library=Path(TARGET).parent / "fake_nvml")
        done = self.run_it("attach", f"{HOST}:{target.pid}", "--totals")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--totals needs NVIDIA's driver", done.stderr)
        self.report(nvml=f"device {80 << 30} {10 << 30} NVIDIA H200\nholder {target.pid} {3 << 30}\n")
        done = self.run_it("attach", f"{HOST}:{target.pid}", "--totals", "--no-window", "--for", "1.5", "--record", self.recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing is loaded into it", done.stderr)
        counters = {row["name"]: row["value"] for row in json.loads(self.run_it("report", self.recording, "--json").stdout)["counters"]}
        self.assertEqual(counters["GPU 0 bytes held by this process (NVML)"], 3 << 30)
        self.assertNotIn("hbmscope", Path(f"/proc/{target.pid}/maps").read_text())
        self.end(target)

    def test_whoever_is_killed_here_leaves_the_observer_there(self):
        self.install()
        target = self.target()
        attaching = self.attached(target)
        attaching.kill()
        time.sleep(0.5)
        watch = self.run_it("watch", f"{HOST}:{target.pid}", "--for", "800ms", "--every", "0.3s", "--json")
        self.assertEqual(watch.returncode, 0, watch.stderr)
        [there] = self.far_recordings()
        before = there.stat().st_size
        self.wait_for(lambda: there.stat().st_size > before)
        detach = self.run_it("detach", f"{HOST}:{target.pid}")
        self.assertEqual(detach.returncode, 0, detach.stderr)
        self.end(target)

    def test_refusals_of_the_machine_there(self):
        self.install()
        done = self.run_it("attach", f"{HOST}:{2**22 + 1}", "--record", self.recording)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such process", done.stderr)
        self.assertFalse(Path(self.recording).exists())
        done = self.run_it("watch", f"{HOST}:{2**22 + 1}")
        self.assertIn("no job 4194305 is observed there", done.stderr)
        self.assertEqual(self.far_recordings(), [])

    def test_a_lost_line_goes_on_where_it_was(self):
        self.install()
        target = self.target()
        attaching = self.attached(target)
        time.sleep(0.3)
        # A second viewer's connection is cut, and the first one continues.
        self.report(cut=30000)
        attaching2 = self.start(HBMSCOPE, "watch", f"{HOST}:{target.pid}", "--for", "3", "--every", "0.5")
        said = attaching2.communicate(timeout=60)[1]
        self.assertEqual(attaching2.returncode, 0, said)
        self.assertRegex(said, "the connection to far.example is lost .Connection to far.example closed by remote host")
        self.assertRegex(said, "is back after [0-9]+ s and continues where it stopped; nothing is missing")
        attaching.send_signal(signal.SIGINT)
        attaching.communicate(timeout=30)
        self.end(target)
        self.assert_same_as_there(self.recording)


class Running(Remote):
    def run_there(self, *command, options=()):
        return self.run_it("run", "--on", HOST, "--record", self.recording, *options, "--", *command)

    def test_words_arrive_as_they_were_written_whatever_the_shell(self):
        self.install()
        words = ["two words", "it's", 'a "quoted" one', "$HOME `id` $(id)", "two\nlines", "back\\slash", "", "*", "~", "!x", "ünï", "a_b", "%1", "-x", "&|;<>"]
        script = "import sys, json; print(json.dumps(sys.argv[1:])); sys.exit(7)"
        shells = [shell for shell in ("/bin/sh", "/bin/bash", "/usr/bin/fish", "/bin/csh", "/usr/bin/zsh") if Path(shell).exists()]
        for shell in shells:
            self.report(shell=shell)
            done = self.run_there(sys.executable, "-c", script, *words)
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertEqual(json.loads(done.stdout), words)

    def test_a_job_that_can_not_be_recorded_here_is_recorded_there(self):
        self.install()
        os.mkfifo(self.recording)
        done = self.run_there("/bin/sh", "-c", f"{PROGRAM} --events 4000 && exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stderr.count(f"the job is recorded on {HOST} only: {self.recording}: it is a pipe or a socket"), 1, done.stderr)
        [there] = self.far_recordings()
        self.assertGreater(self.sums(there)[0]["total"], 1000)

    def test_a_job_is_recorded_and_its_output_and_exit_code_are_here(self):
        self.install()
        done = self.run_there(PROGRAM, "--events", "40000", options=("--no-follow", "--flight-keep", "3", "--on-exit"))
        self.assertEqual(done.returncode, 0, done.stderr)
        local = self.run_it("run", "--record", str(self.folder / "local.hbm"), "--", PROGRAM, "--events", "40000")
        self.assertEqual(done.stdout, local.stdout)
        self.assert_same_as_there(self.recording)
        events, heaps = self.sums(self.recording)
        self.assertEqual(events["lost"], 0)
        started = (self.far / "commands").read_text()
        self.assertIn("far far-start run --no-follow --on-exit --flight-keep 3 -- ", started)
        [flight] = (self.far / "home/.local/state/hbmscope/flights").iterdir()
        self.assertIn("(--on-exit)", (flight / "what_happened.txt").read_text())
        truth = [heap["in_use_bytes"] for heap in json.loads(done.stdout)["heaps"]]
        self.assertEqual(sorted(heap["in_use_bytes"] for heap in heaps), sorted(truth))

    def test_cut_in_the_middle_and_exact_again_after_it(self):
        self.install()
        self.report(cut=100000)
        job = self.start(HBMSCOPE, "run", "--on", HOST, "--record", self.recording, "--", PROGRAM, "--events", "400000", "--pace", "100")
        # The starting command prints little; the link is what is cut.
        said = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 0, said[1])
        self.assertIn("is lost", said[1])
        self.assertIn("nothing is missing", said[1])
        self.assert_same_as_there(self.recording)
        truth = self.run_it("run", "--record", str(self.folder / "local.hbm"), "--", PROGRAM, "--events", "400000", "--pace", "100")
        self.assertEqual(said[0], truth.stdout)
        self.assertEqual(self.sums(self.recording)[0]["alloc"], self.sums(self.folder / "local.hbm")[0]["alloc"])

    def test_a_job_that_ends_while_the_line_is_lost_is_had_whole(self):
        self.install()
        self.report(cut=3000)
        job = self.start(HBMSCOPE, "run", "--on", HOST, "--record", self.recording, "--", PROGRAM, "--events", "50000")
        self.wait_for(lambda: not (self.far / "cut").exists())
        self.report(refuse="ssh: connect to host far.example port 22: No route to host\n")
        time.sleep(3)
        (self.far / "refuse").unlink()
        out, said = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, said)
        self.assertIn("nothing is missing", said)
        self.assert_same_as_there(self.recording)

    def test_ctrl_c_is_the_jobs(self):
        self.install()
        job = self.start(
            HBMSCOPE, "run", "--on", HOST, "--record", self.recording, "--", "/bin/sh", "-c", "trap 'echo caught; exit 5' INT; echo begun; while :; do sleep 0.1; done"
        )
        self.assertEqual(job.stdout.readline(), "begun\n")
        job.send_signal(signal.SIGINT)
        out, said = job.communicate(timeout=30)
        self.assertEqual((out, job.returncode), ("caught\n", 5), said)
        job = self.start(HBMSCOPE, "run", "--on", HOST, "--record", self.recording, "--", "/bin/sh", "-c", "echo begun; exec sleep 60")
        self.assertEqual(job.stdout.readline(), "begun\n")
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=30)
        self.assertEqual(job.returncode, 128 + signal.SIGTERM)

    def test_ctrl_c_ends_the_observation_of_what_outlives_the_command(self):
        self.install()
        pid = self.folder / "pid"
        job = self.start(HBMSCOPE, "run", "--on", HOST, "--record", self.recording, "--", "/bin/sh", "-c", f"{PROGRAM} --forever --pace 10 >/dev/null & echo $! >{pid}; exit 4")
        self.assertIn("sh has ended with 4; 1 process that it started goes on", next(line for line in job.stderr if "goes on" in line))
        job.send_signal(signal.SIGINT)
        out, said = job.communicate(timeout=60)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        self.assertEqual(job.returncode, 4, said)
        self.assertIn("the observation ends as requested, and annotated_program", said)
        self.assertIn("left_running", self.run_it("check", self.recording).stdout)

    def test_whatever_runs_a_command_there_will_do(self):
        """As app/cli/remote/README.md has it for srun and kubectl exec."""
        home = self.far / "home"
        home.mkdir()
        runs = f'f() {{ for c; do :; done; exec env -i PATH="$PATH" HOME="{home}" sh -c "$c"; }}; f'
        self.environment["HBMSCOPE_SSH"] = runs
        done = self.run_there("sh", "-c", "echo \"$0 $1\"; exit 3", "a b", "it's", options=("--yes",))
        self.assertEqual((done.returncode, done.stdout), (3, "a b it's\n"), done.stderr)

    def test_what_cant_be_started_there(self):
        self.install()
        done = self.run_there("no-such-program-anywhere")
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot start no-such-program-anywhere", done.stderr)
        self.assertEqual(list((self.far / "home/.local/state/hbmscope/far").iterdir()), [])

    def test_a_slow_line_is_no_lost_one(self):
        self.install()
        self.report(slow=1)
        done = self.run_there(PROGRAM, "--events", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("lost (", done.stderr)


class TheBundle(unittest.TestCase):
    def test_it_is_small_static_and_starts_with_an_empty_environment(self):
        program = Path(BUNDLE) / "files" / "hbmscope"
        self.assertLess(sum(file.stat().st_size for file in program.parent.iterdir()), 40 << 20)
        headers = subprocess.run(["objdump", "-p", str(program)], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(headers, r"NEEDED|INTERP")
        for words in (["--version"], ["ps"], ["ps", "--json"], ["tpu", "generations"]):
            done = subprocess.run([str(program), *words], env={}, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
        # Things that a static program can't do are reported.
        demo = subprocess.run([str(program), "demo", "--headless"], env={}, capture_output=True, text=True, timeout=60)
        self.assertEqual(demo.returncode, 2)
        self.assertIn("linked statically", demo.stderr)
        for name in ("libhbmscope_collector.so", "hbmscope_device_totals"):
            symbols = subprocess.run(["objdump", "-T", str(program.with_name(name))], capture_output=True, text=True, check=True).stdout
            newest = max(tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", symbols))
            self.assertLessEqual(newest, (2, 18), name)
        lines = program.with_name("hbmscope_source_lines")
        if lines.exists():
            headers = subprocess.run(["objdump", "-p", str(lines)], capture_output=True, text=True, check=True).stdout
            self.assertNotRegex(headers, r"NEEDED|INTERP")
        done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=program.parent, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=1)
