#!/usr/bin/env python3
"""Other local users, who must not be able to stop hbmscope, read what it records, or lose anything to it; and root with
the environment of a user.

    other_users_test.py HBMSCOPE ANNOTATED_PROGRAM
"""

import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import own_children  # noqa: F401 - what a test leaves running is killed

HBMSCOPE, PROGRAM = sys.argv[1:3]
OURS, THEIRS = 40_011, 40_012
UNOBSERVED = "the job runs without being observed: "


def as_user(uid):
    def become():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)

    return become


def can_run(uid):
    try:
        return subprocess.run([HBMSCOPE, "--version"], capture_output=True, preexec_fn=as_user(uid)).returncode == 0
    except PermissionError:
        return False


@unittest.skipUnless(os.getuid() == 0, "only root can become other users")
class OtherUsers(unittest.TestCase):
    def setUp(self):
        if not can_run(OURS):
            self.skipTest("another user can't reach the build folder")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        self.home = self.owned(self.folder / "home", OURS)
        self.in_tmp = Path(f"/tmp/hbmscope-{OURS}")
        self.remove(self.in_tmp)
        self.addCleanup(self.remove, self.in_tmp)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home)}

    @staticmethod
    def remove(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    @staticmethod
    def owned(path, uid, mode=0o700):
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(mode)
        os.chown(path, uid, uid)
        return path

    def run_it(self, *words, uid=OURS, **environment):
        return subprocess.run([HBMSCOPE, *words], capture_output=True, text=True, cwd=self.home, timeout=60, preexec_fn=as_user(uid),
                              env=dict(self.environment, **environment))

    def job(self, *options, **more):
        done = self.run_it("run", "--no-window", *options, "--", PROGRAM, "--events", "100", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"heaps"', done.stdout)
        return done

    def owners_in(self, folder):
        return {path.lstat().st_uid for path in [folder, *folder.rglob("*")]}

    def test_a_name_in_tmp_that_somebody_else_took_stops_nobody(self):
        for squat in (lambda: self.owned(self.in_tmp, THEIRS), lambda: self.in_tmp.symlink_to(self.home), lambda: self.in_tmp.write_text("")):
            squat()
            done = self.job("--record", str(self.home / "a.hbm"))
            self.assertIn(" saved in ", done.stderr)
            place = self.home / ".local/state/hbmscope/run"
            self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o700)
            self.assertEqual(list(place.iterdir()), [])
            self.remove(self.in_tmp)

    def test_an_observer_that_had_to_go_elsewhere_is_found(self):
        self.owned(self.in_tmp, THEIRS)
        script = f'{HBMSCOPE} run --no-window --record a.hbm -- {PROGRAM} --forever --pace 100 & sleep 1.5; {HBMSCOPE} watch $(pgrep -n -u {OURS} annotated_progr) --json --for 0.5; kill $!; wait'
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=self.home, timeout=60, preexec_fn=as_user(OURS), env=self.environment)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        self.assertTrue(lines, done.stderr)
        self.assertGreater(json.loads(lines[-1])["events"]["total"], 0)

    def test_without_any_folder_the_job_runs_unobserved(self):
        self.owned(self.in_tmp, THEIRS)
        done = self.job("--no-flight", "--record", str(self.home / "a.hbm"), HOME=str(self.owned(self.folder / "of_another", THEIRS)))
        self.assertEqual(done.stderr.count("hbmscope: "), 1, done.stderr)
        self.assertIn(UNOBSERVED, done.stderr)
        self.assertFalse((self.home / "a.hbm").exists())
        done = self.run_it("run", "--no-flight", "--", "sh", "-c", "env | grep -i -e hbmscope -e preload; exit 7", HOME="/nonexistent")
        self.assertEqual((done.returncode, done.stdout), (7, ""))
        killed = self.run_it("run", "--no-flight", "--", "sh", "-c", "kill -9 $$", HOME="/nonexistent")
        self.assertEqual(killed.returncode, 128 + 9)

    @unittest.skipUnless(platform.machine() == "x86_64", "attaching needs x86-64")
    def test_root_attaches_though_somebody_took_the_names_that_can_be_guessed(self):
        squatted = Path("/tmp/hbmscope-attach-0")
        if squatted.exists():
            self.skipTest(f"{squatted} is in use")
        self.owned(squatted, THEIRS)
        self.addCleanup(self.remove, squatted)
        # A name like ours, too; and one of ours that is left from before is used again.
        self.owned(Path("/tmp/hbmscope-attach-0-00"), THEIRS)
        self.addCleanup(self.remove, Path("/tmp/hbmscope-attach-0-00"))
        job = subprocess.Popen([PROGRAM, "--forever", "--pace", "1000"], stdout=subprocess.DEVNULL, preexec_fn=as_user(OURS), env=self.environment)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        folders = []
        for number in range(2):
            recording = str(self.folder / f"attached{number}.hbm")
            done = subprocess.run([HBMSCOPE, "attach", str(job.pid), "--no-flight", "--no-window", "--for", "0.5", "--record", recording], capture_output=True,
                                  text=True, timeout=60, env=dict(self.environment, XDG_RUNTIME_DIR=str(self.folder)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(" saved in ", done.stderr)
            folders.append({path.name for path in Path("/tmp").glob("hbmscope-attach-0-*") if path.lstat().st_uid == 0})
        self.assertEqual(folders[0], folders[1])
        for name in folders[0]:
            self.assertRegex(name, "^hbmscope-attach-0-[0-9a-f]{16}$")
        self.assertIsNone(job.poll())

    # As under sudo -E, or su without a dash.
    def test_root_with_the_environment_of_a_user_leaves_nothing_that_locks_the_user_out(self):
        runtime = self.owned(self.folder / "runtime", OURS)
        self.addCleanup(self.remove_flights_of_root, set(self.flights_of_root()))
        environment = {"XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(self.owned(self.folder / "state", OURS))}
        root = self.run_it("run", "--no-window", "--on-exit", "--record", "/dev/shm/hbmscope-test.hbm", "--", PROGRAM, "--events", "100", uid=0, **environment)
        Path("/dev/shm/hbmscope-test.hbm").unlink(missing_ok=True)
        self.assertEqual(root.returncode, 0, root.stderr)
        self.assertIn(" saved in ", root.stderr)
        for folder in (runtime, self.folder / "state", self.home):
            self.assertEqual(self.owners_in(folder), {OURS}, f"{folder}: {root.stderr}")
        self.assertIn("/var/tmp/hbmscope-0/flights", root.stderr)
        self.assertIn(" saved in ", self.job("--on-exit", "--record", str(self.home / "a.hbm"), **environment).stderr)
        self.assertTrue(list((self.folder / "state/hbmscope/flights").iterdir()))

    @staticmethod
    def flights_of_root():
        folder = Path("/var/tmp/hbmscope-0/flights")
        return folder.iterdir() if folder.is_dir() else []

    def remove_flights_of_root(self, before):
        for flight in set(self.flights_of_root()) - before:
            shutil.rmtree(flight)

    def test_only_its_owner_reads_what_was_recorded(self):
        self.home.chmod(0o755)
        self.job("--on-exit", "--record", str(self.home / "a.hbm"))
        self.job()
        for recording in [*self.home.glob("*.hbm"), *self.home.glob(".local/state/hbmscope/flights/*/*")]:
            self.assertEqual(stat.S_IMODE(recording.stat().st_mode), 0o600, recording)
        # Also one that replaces a file that all could read.
        old = self.home / "old.hbm"
        old.write_text("of yesterday")
        old.chmod(0o644)
        os.chown(old, OURS, OURS)
        self.job("--record", str(old))
        self.assertEqual(stat.S_IMODE(old.stat().st_mode), 0o600)

    def test_a_folder_that_may_not_be_entered_keeps_no_job_from_starting(self):
        closed = self.owned(self.folder / "closed", 0)
        kept = self.owned(self.home / "kept", OURS)
        kept.chmod(0)
        link = self.home / "link.hbm"
        link.symlink_to(closed / "run.hbm")
        for path in (closed / "run.hbm", closed / "deeper" / "run.hbm", kept / "run.hbm", link):
            for options in ([], ["--no-flight"], ["--emulate", "a100-40"]):
                with self.subTest(path=path, options=options):
                    done = self.run_it("run", *options, "--record", str(path), "--", "sh", "-c", "echo started; exit 5")
                    self.assertEqual(done.returncode, 5, done.stderr)
                    self.assertIn("started", done.stdout + done.stderr)
                    self.assertEqual(done.stderr.count(UNOBSERVED), 1, done.stderr)
                    self.assertIn("Permission denied", done.stderr)
        done = subprocess.run([HBMSCOPE, "run", "--", "/bin/sh", "-c", "exit 5"], capture_output=True, text=True, cwd=closed, timeout=60,
                              preexec_fn=as_user(OURS), env=self.environment)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stderr.count(UNOBSERVED), 1, done.stderr)

    def test_attach_says_that_a_recording_can_not_be_looked_at(self):
        closed = self.owned(self.folder / "closed", 0)
        loop = self.home / "loop.hbm"
        loop.symlink_to(loop)
        os.mkfifo(self.home / "pipe.hbm")
        job = subprocess.Popen([PROGRAM, "--events", "400000", "--pace", "100"], stdout=subprocess.DEVNULL, preexec_fn=as_user(OURS), env=self.environment)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        for path, why in ((closed / "run.hbm", "Permission denied"), (loop, "Too many levels of symbolic links"), (self.home / ("n" * 290), "File name too long"),
                          (self.home, "it is a folder"), (self.home / "pipe.hbm", "it is not a regular file"), (Path("/dev/null"), "it is not a regular file")):
            with self.subTest(path):
                done = self.run_it("attach", str(job.pid), "--for", "0.1", "--record", str(path))
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(why, done.stderr)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_a_file_of_another_user_is_not_taken_over(self):
        shared = self.owned(self.folder / "shared", 0, 0o1777)
        for uid in (OURS, 0):
            theirs = shared / f"a{uid}.hbm"
            theirs.write_text("theirs")
            theirs.chmod(0o666)
            os.chown(theirs, THEIRS, THEIRS)
            precious = self.folder / f"precious{uid}"
            precious.write_text("ours")
            os.chown(precious, uid, uid)
            link = shared / f"link{uid}.hbm"
            link.symlink_to(precious)
            os.lchown(link, THEIRS, THEIRS)
            for path, why in ((theirs, "it belongs to another user"), (link, "it is a symbolic link of another user")):
                done = self.run_it("run", "--no-flight", "--record", str(path), "--", PROGRAM, "--events", "100", uid=uid)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count(UNOBSERVED), 1, done.stderr)
                self.assertIn(why, done.stderr)
            self.assertEqual((theirs.read_text(), precious.read_text()), ("theirs", "ours"))
            own_link = shared / f"own{uid}.hbm"
            own_link.symlink_to(precious)
            os.lchown(own_link, uid, uid)
            done = self.run_it("run", "--no-flight", "--record", str(own_link), "--", PROGRAM, "--events", "100", uid=uid)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotEqual(precious.read_bytes()[:4], b"ours")

    def test_a_name_that_others_can_guess_is_never_reused(self):
        # Every number that the next processes may have, as links to a file of ours.
        precious = self.home / "precious"
        precious.write_text("ours")
        os.chown(precious, OURS, OURS)
        last = int(Path("/proc/sys/kernel/ns_last_pid").read_text()) if Path("/proc/sys/kernel/ns_last_pid").exists() else 0
        name = Path(PROGRAM).name
        for number in range(last, last + 3000):
            (self.home / f"{name}.{number}.hbm").symlink_to(precious)
        done = self.job()
        self.assertIn(f"saved in {name}.", done.stderr)
        if last:
            self.assertIn("-2.hbm", done.stderr)
        self.assertEqual(precious.read_text(), "ours")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
