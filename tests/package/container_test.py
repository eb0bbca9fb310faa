#!/usr/bin/env python3
"""The files of app/package/container: each script runs for real, and so does each hbmscope command in the scripts, the YAML
and the README, on small jobs and in folders of the test.

    container_test.py HBMSCOPE ANNOTATED_PROGRAM FOLDER_OF_FAKE_NVML
"""

import json
import os
import pathlib
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "app" / "package" / "container"
STAND_IN = ROOT / "tests" / "package" / "stand_in_slurm.py"
sys.path.append(str(ROOT / "tests" / "collector"))
import own_children  # noqa: E402, F401 - what a test leaves running is killed
from attaching import MAY_ATTACH, WHY_NOT  # noqa: E402

HBMSCOPE, PROGRAM, FAKE_NVML = (os.path.abspath(path) for path in sys.argv[1:4])
SCRIPTS = sorted(FOLDER.glob("*.sh"))
NODE = os.uname().nodename
FAILS = ["/bin/sh", "-c", f"'{PROGRAM}' --events 200 --fail; exit 3"]
SUCCEEDS = [PROGRAM, "--events", "200"]


def yaml_commands(text):
    """The lists after `command:` and `args:`, which these files write as JSON."""
    return [json.loads(found) for found in re.findall(r"^\s+(?:command|args): (\[.*\])$", text, re.MULTILINE)]


def commands_in_text(text):
    """Each `hbmscope COMMAND ...` of a script or of indented code, as words; up to a comment, a pipe or a redirection."""
    found = []
    for line in text.replace('"$here/hbmscope"', "hbmscope").replace('"$hbmscope"', "hbmscope").splitlines():
        if line.lstrip().startswith("#") or not (match := re.search(r"(?:^|[ /])hbmscope (?=[a-z-])(?!-- )(.*)", line)):
            continue
        found.append(shlex.split(re.split(r" [;|&<>#]|2>|[;)]", match.group(1))[0]))
    return found


def commands_of_readme():
    text = (FOLDER / "README.md").read_text()
    code = "\n".join(line for line in text.splitlines() if line.startswith("    "))
    code = re.sub(r"hbmscope:0\.1\.0 (?=[a-z-])", "hbmscope ", code)  # The image's entry point.
    lines = [line for line in code.splitlines() if not re.match(r"\s+(make|install|kubectl (apply|logs|cp|debug)|podman build|docker build)", line)]
    return commands_in_text("\n".join(lines))


def faults_of(words):
    """A command that does not exist, and its options that don't."""
    if words[0].startswith("--"):
        command, options = [], words[:1]
    else:
        command, options = words[:1], words[1 : words.index("--")] if "--" in words else words[1:]
    done = subprocess.run([HBMSCOPE, *command, "--help"], capture_output=True, text=True)
    if done.returncode != 0:
        return [f"no command {command[0]}"]
    known = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", done.stdout, re.MULTILINE))
    return [f"{' '.join(command)} has no {option}" for option in options if option.startswith("--") and option not in known]


class ContainerTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.recordings = self.folder / "recordings"
        self.recordings.mkdir()
        # What the image has in /opt/hbmscope.
        self.installed = self.folder / "installed"
        self.installed.mkdir()
        (self.installed / "hbmscope").symlink_to(HBMSCOPE)
        for script in SCRIPTS:
            shutil.copy(script, self.installed)
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "HBMSCOPE_RECORDINGS": str(self.recordings)}

    def run_it(self, *words, **more):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, cwd=self.folder, env=dict(self.environment, **more))

    def start(self, *words, **more):
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=dict(self.environment, **more))
        for closed in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(closed)
        return process

    def recorded(self, recording):
        done = self.run_it(HBMSCOPE, "report", recording, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Files(ContainerTest):
    def test_each_command_and_option_exists(self):
        commands = commands_of_readme()
        for script in SCRIPTS:
            commands += commands_in_text(script.read_text())
        commands += [words for words in yaml_commands((FOLDER / "daemonset.yaml").read_text())]
        self.assertGreaterEqual({words[0] for words in commands}, {"run", "attach", "ps", "explain", "report", "--version"})
        self.assertEqual([fault for words in commands for fault in faults_of(words)], [])

    def test_a_command_that_does_not_exist_is_found(self):
        self.assertEqual(faults_of(["run", "--no-such", "--", "python", "--whatever"]), ["run has no --no-such"])
        self.assertEqual(faults_of(["serve", "--no-window"]), ["no command serve"])
        self.assertEqual(commands_in_text('  timeout 60 "$here/hbmscope" explain "$a" --x \'b>0\' >c 2>d\n# hbmscope gone\n'), [["explain", "$a", "--x", "b>0"]])

    def test_the_shell_reads_each_script(self):
        self.assertEqual(len(SCRIPTS), 4)
        for script in SCRIPTS:
            self.assertEqual(self.run_it("/bin/sh", "-n", script).stderr, "")
            self.assertTrue(os.access(script, os.X_OK), script)

    def test_the_readme_names_each_file(self):
        text = (FOLDER / "README.md").read_text()
        for file in FOLDER.iterdir():
            if file.name != "README.md":
                self.assertIn(f"]({file.name})", text)

    def test_the_image_copies_what_exists_and_runs_as_no_root(self):
        text = (FOLDER / "Containerfile").read_text()
        [copied] = re.findall(r"^COPY (?!--from)(.*) /opt/hbmscope/$", text, re.MULTILINE)
        self.assertEqual(sorted(copied.split()), [script.name for script in SCRIPTS])
        self.assertEqual(re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE), ['["hbmscope"]'])
        self.assertRegex(text, r"(?m)^USER [1-9]\d*:[1-9]\d*$")
        version = re.search(r"^project\(.*?VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE).group(1)
        for file in [FOLDER / "Containerfile", *FOLDER.glob("*.yaml"), FOLDER / "README.md"]:
            self.assertEqual(set(re.findall(r"\bhbmscope:(\d[\d.]*\d)", file.read_text())), {version}, file)

    def test_volumes_that_are_mounted_are_declared(self):
        text = (FOLDER / "sidecar.yaml").read_text()
        mounted = set(re.findall(r"- \{name: (\w+), mountPath", text))
        self.assertEqual(mounted, set(re.findall(r"^    - name: (\w+)\n      (?:emptyDir|persistentVolumeClaim)", text, re.MULTILINE)))

    def test_the_yaml_is_well_formed(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("PyYAML is not installed")
        for file in FOLDER.glob("*.yaml"):
            self.assertIn(yaml.safe_load(file.read_text())["kind"], ("Pod", "DaemonSet"))


class Kubernetes(ContainerTest):
    def pod(self, job):
        """Runs the commands of the pod, with the folders of this test and `job` for its python."""
        init, main = yaml_commands((FOLDER / "sidecar.yaml").read_text())
        image = self.installed.rename(self.folder / "image")
        self.installed.mkdir()
        here = {"/opt/hbmscope/.": f"{image}/.", "/hbmscope": str(self.installed), "/hbmscope/run_job.sh": f"{self.installed}/run_job.sh"}
        self.assertEqual(self.run_it(*[here.get(word, word) for word in init]).returncode, 0)
        self.assertEqual(main[-2:], ["python", "train.py"])
        return [here.get(word, word) for word in main[:-2]] + job

    def test_a_job_that_fails_says_why_in_its_log(self):
        done = self.run_it(*self.pod(FAILS))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("Out of memory on pool 0", done.stderr)
        self.assertEqual(self.recorded(self.recordings / f"{NODE}.hbm")["heaps"][0]["name"], "pool 0")

    def test_a_job_that_succeeds_says_no_more(self):
        done = self.run_it(*self.pod(SUCCEEDS))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Out of memory", done.stderr)
        self.assertTrue((self.recordings / f"{NODE}.hbm").exists())

    def test_a_job_that_fails_otherwise_says_no_more_and_reads_its_input(self):
        command = self.pod(["sh", "-c", "cat; exit 4"])
        done = subprocess.run(list(map(str, command)), env=self.environment, input="what was sent", capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (4, "what was sent"), done.stderr)
        self.assertNotIn("No request failed", done.stderr)

    def test_the_end_of_the_pod_ends_the_job(self):
        job = self.start(*self.pod([PROGRAM, "--forever", "--pace", "1"]))
        recording = self.recordings / f"{NODE}.hbm"
        for _ in range(300):
            if recording.exists() and recording.stat().st_size > 200:
                break
            time.sleep(0.05)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(timeout=30), 128 + signal.SIGTERM)
        self.assertTrue(self.recorded(recording)["heaps"])

    def test_the_command_without_the_script(self):
        [words] = [words for words in commands_of_readme() if words[:1] == ["run"] and "--flight" in words]
        words = [word.replace("/recordings", str(self.recordings)) for word in words]
        done = self.run_it(HBMSCOPE, *words[: words.index("--") + 1], *FAILS)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertTrue((self.recordings / "trainer.hbm").exists())
        self.assertEqual(len(list((self.recordings / "flights").iterdir())), 1)

    def test_the_daemon_prints_a_line_of_json(self):
        [words] = yaml_commands((FOLDER / "daemonset.yaml").read_text())
        reported = self.folder / "nvml"
        reported.write_text(f"device {80 << 30} {10 << 30} NVIDIA H200\nholder {os.getpid()} {3 << 30}\n")
        daemon = self.start(HBMSCOPE, *words, LD_LIBRARY_PATH=FAKE_NVML, FAKE_NVML=str(reported))
        line = json.loads(daemon.stdout.readline())
        self.assertEqual([(device["name"], device["used_bytes"]) for device in line["devices"]], [("NVIDIA H200", 10 << 30)])
        self.assertIn([{"device": 0, "bytes": 3 << 30}], [job["devices"] for job in line["jobs"]])
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=30), -signal.SIGTERM)

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_the_debug_container_attaches(self):
        job = self.start(PROGRAM, "--forever", "--pace", "1")
        [words] = [words for words in commands_of_readme() if words[:2] == ["attach", "1"]]
        here = {"1": str(job.pid), "5m": "1s", "trainer.hbm": str(self.recordings / "trainer.hbm")}
        done = self.run_it(HBMSCOPE, *[here.get(word, word) for word in words])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.recorded(self.recordings / "trainer.hbm")["heaps"][0]["peak_in_use_bytes"], 0)
        self.assertIsNone(job.poll())
        rights = json.loads((FOLDER / "debug.json").read_text())["securityContext"]
        self.assertEqual((rights["runAsUser"], rights["capabilities"]), (0, {"add": ["SYS_PTRACE"]}))


class Slurm(ContainerTest):
    def setUp(self):
        super().setUp()
        (self.installed / "recordings").symlink_to(self.recordings)
        self.environment |= {"SLURM_JOB_ID": "123", "SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "CUDA_VISIBLE_DEVICES": "0"}
        self.task = self.recordings / "123" / f"{NODE}.0.1"

    def step(self, command, **more):
        """A task with its prolog and epilog; returns the task."""
        done = self.run_it(sys.executable, STAND_IN, self.installed / "taskprolog.sh", *command, **more)
        self.assertEqual(self.run_it(self.installed / "taskepilog.sh", **more).returncode, 0)
        return done

    def end_job(self, **more):
        user = {"SLURM_JOB_UID": str(os.getuid()), "SLURM_JOB_USER": pwd.getpwuid(os.getuid()).pw_name}
        job = {"SLURM_JOB_ID": "123", "PATH": "", **user, **more}
        done = subprocess.run([self.installed / "epilog.sh"], env=job, cwd="/", capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        return done.stderr

    def left(self):
        return sorted(path.name for path in (self.recordings / "123").iterdir()) if (self.recordings / "123").exists() else []

    def test_a_task_that_runs_out_of_memory(self):
        done = self.step(FAILS)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertIn('"heaps"', done.stdout)
        self.assertEqual(self.recorded(f"{self.task}.hbm")["heaps"][0]["name"], "pool 0")
        self.assertEqual(self.end_job(), "")
        self.assertIn("Out of memory on pool 0", pathlib.Path(f"{self.task}.why.txt").read_text())
        self.assertEqual(self.left(), [f"{NODE}.0.1.{end}" for end in ("hbm", "log", "why.txt")])

    def test_a_task_that_succeeds_leaves_nothing(self):
        self.assertEqual(self.step(SUCCEEDS).returncode, 0)
        self.assertIn(f"{NODE}.0.1.hbm", self.left())
        self.end_job()
        self.assertFalse((self.recordings / "123").exists())

    def test_a_user_keeps_the_recording_or_wants_none(self):
        self.assertEqual(self.step(SUCCEEDS, HBMSCOPE_RECORD="keep").returncode, 0)
        self.end_job()
        self.assertIn(f"{NODE}.0.1.hbm", self.left())
        shutil.rmtree(self.recordings / "123")
        self.assertEqual(self.step(SUCCEEDS, HBMSCOPE_RECORD="no").returncode, 0)
        self.assertEqual(self.left(), [])

    def test_a_job_that_records_itself(self):
        done = self.step([HBMSCOPE, "run", "--no-window", "--record", self.folder / "its_own.hbm", "--", *SUCCEEDS])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.recorded(self.folder / "its_own.hbm")["heaps"][0]["name"], "pool 0")
        if os.path.exists(f"{self.task}.hbm"):  # The bundle's program is static and is not in it.
            self.assertIn("\n0 events", self.run_it(HBMSCOPE, "report", f"{self.task}.hbm").stdout)
        self.end_job()
        self.assertEqual(self.left(), [])

    def test_tasks_without_a_gpu_are_left_alone(self):
        for devices in ("", "NoDevFiles"):
            self.assertEqual(self.step(SUCCEEDS, CUDA_VISIBLE_DEVICES=devices).returncode, 0)
            self.assertEqual(self.left(), [])

    def test_the_epilog_waits_for_the_task_that_the_prolog_named(self):
        for restarts, ending in ((None, ""), ("0", ""), ("1", ".restart1")):
            environment = {"SLURM_RESTART_COUNT": restarts} if restarts else {}
            named = self.run_it(self.installed / "taskprolog.sh", "name", **environment)
            self.assertEqual((named.returncode, named.stdout), (0, f"{self.installed}/recordings/123/{NODE}.0.1{ending}\n"))
            self.task.parent.mkdir(exist_ok=True)
            exports = pathlib.Path(f"{self.task}{ending}.exports")
            exports.touch()
            epilog = self.start(self.installed / "taskepilog.sh", **environment)
            with self.assertRaises(subprocess.TimeoutExpired):
                epilog.wait(timeout=0.5)
            exports.unlink()
            self.assertEqual(epilog.wait(timeout=30), 0)

    def test_a_requeued_job_keeps_the_reason_of_its_first_failure(self):
        self.step(FAILS)
        self.end_job()
        self.step(SUCCEEDS, SLURM_RESTART_COUNT="1")
        self.assertIn(f"{NODE}.0.1.restart1.hbm", self.left())
        self.end_job()
        self.assertEqual(self.left(), [f"{NODE}.0.1.{end}" for end in ("hbm", "log", "why.txt")])

    def test_what_a_killed_task_left_behind_is_not_used_again(self):
        (self.recordings / "123").mkdir(mode=0o700)
        pathlib.Path(f"{self.task}.exports").write_text("export LD_PRELOAD=/of/a/task/that/was/killed.so\n")
        done = self.step(FAILS)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertEqual(self.recorded(f"{self.task}.hbm")["heaps"][0]["name"], "pool 0")
        pathlib.Path(f"{self.task}.exports").write_text("")
        self.end_job()
        self.assertEqual(self.left(), [f"{NODE}.0.1.{end}" for end in ("hbm", "log", "why.txt")])

    def test_a_recording_that_cannot_be_explained_stays(self):
        self.step(FAILS)
        pathlib.Path(f"{self.task}.hbm").write_bytes(b"damaged")
        self.end_job()
        self.assertEqual(self.left(), [f"{NODE}.0.1.{end}" for end in ("hbm", "log")])

    def test_a_task_runs_without_the_folder_or_the_program(self):
        (self.installed / "recordings").unlink()
        self.assertEqual(self.step(SUCCEEDS).returncode, 0)
        (self.installed / "recordings").symlink_to(self.recordings)
        (self.installed / "hbmscope").unlink()
        self.assertEqual(self.step(SUCCEEDS).returncode, 0)
        self.end_job()

    @unittest.skipUnless(os.getuid() == 0, "only root makes a folder of another user")
    def test_the_folder_of_another_user_is_not_used(self):
        (self.recordings / "123").mkdir()
        os.chown(self.recordings / "123", pwd.getpwnam("nobody").pw_uid, -1)
        self.assertEqual(self.step(SUCCEEDS).returncode, 0)
        self.assertEqual(self.left(), [])
        shutil.copy(ROOT / "samples/fragments.hbm", f"{self.task}.hbm")
        self.end_job()
        self.assertEqual(self.left(), [f"{NODE}.0.1.hbm"])

    @unittest.skipUnless(os.getuid() == 0, "only root ends the job of another user")
    def test_the_epilog_writes_as_the_user(self):
        nobody = pwd.getpwnam("nobody")
        self.folder.chmod(0o755)
        if subprocess.run(["runuser", "-u", "nobody", "--", HBMSCOPE, "--version"], capture_output=True).returncode != 0:
            self.skipTest("another user can't reach the build folder")
        self.step(FAILS)
        for path in (self.recordings / "123", *(self.recordings / "123").iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        precious = self.folder / "precious"
        precious.write_text("root's\n")
        pathlib.Path(f"{self.task}.why.txt").symlink_to(precious)
        self.end_job(SLURM_JOB_UID=str(nobody.pw_uid), SLURM_JOB_USER="nobody")
        self.assertEqual(precious.read_text(), "root's\n")
        pathlib.Path(f"{self.task}.why.txt").unlink()
        self.end_job(SLURM_JOB_UID=str(nobody.pw_uid), SLURM_JOB_USER="nobody")
        self.assertEqual(pathlib.Path(f"{self.task}.why.txt").stat().st_uid, nobody.pw_uid)

    def test_the_commands_of_one_job(self):
        """srun runs them as they are; here with this job for train.py."""
        [recorded] = [words for words in commands_of_readme() if words[:2] == ["run", "--no-window"] and "--record" not in words]
        done = self.run_it(HBMSCOPE, *recorded[: recorded.index("--") + 1], *SUCCEEDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        [recording] = self.folder.glob("annotated_program.*.hbm")
        [words] = [words for words in commands_of_readme() if words[0] == "report"]
        with recording.open() as file:
            done = subprocess.run([HBMSCOPE, *words], stdin=file, capture_output=True, text=True, env=self.environment)
        self.assertIn("pool 0", done.stdout, done.stderr)
        for words in commands_of_readme():
            if words in (["ps"], ["--version"]):
                self.assertEqual(self.run_it(HBMSCOPE, *words).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
