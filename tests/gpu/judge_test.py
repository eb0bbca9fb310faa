#!/usr/bin/env python3
"""The judge judges, on the emulated device: everything holds, each planted fault is found and named, and nothing is left behind.

    tests/gpu/judge_test.py BUILD PYTHON_JAX PYTHON_TORCH [CHECK ...]     CHECK: only the planted faults of these
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD, PYTHON_JAX, PYTHON_TORCH, *ONLY = sys.argv[1:]
sys.path.insert(0, str(HERE))

from judge import CHECKS  # noqa: E402
from machine import emulated  # noqa: E402
from verdict import GPU_ONLY, HOLDS, LEFT_OUT, MISSED, NOT_JUDGED  # noqa: E402

ON_A_GPU = {"profiler_torch", "profiler_jax", "memory_back"}
OTHER = "driver_interpose"  # A quick check that must hold while another one misses; it also leaves a recording.


class Judge(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self, **variables):
        return {**os.environ, "PYTHON_JAX": PYTHON_JAX, "PYTHON_TORCH": PYTHON_TORCH, "PYTHON": sys.executable, "OUT": str(self.folder), **variables}

    def run_it(self, *words, **variables):
        done = subprocess.run([HERE / "run.sh", "--build", BUILD, *words], env=self.environment(**variables), capture_output=True, text=True)
        result = self.folder / "judge.json"
        return done, json.loads(result.read_text()) if result.exists() else None

    def verdicts(self, result):
        return {row["check"]: row["verdict"] for row in result["checks"]}

    @unittest.skipIf(ONLY, "only some planted faults are wanted")
    def test_everything_holds(self):
        done, result = self.run_it("--pretend", "all")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.verdicts(result), {check.name: GPU_ONLY if check.name in ON_A_GPU else HOLDS for check in CHECKS})
        self.assertEqual((self.folder / "judge.txt").read_text(), done.stdout)
        self.assertLess(len(done.stdout.splitlines()), 60)
        for key in ("hbmscope", "device", "driver", "free_bytes_at_start"):
            self.assertTrue(result[key], key)
        print(done.stdout)

    def test_each_planted_fault_is_named(self):
        for check in CHECKS:
            if check.name in ON_A_GPU or ONLY and check.name not in ONLY:
                continue
            with self.subTest(check.name):
                done, result = self.run_it("--pretend", "--plant", check.name, check.name, OTHER)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                missed = {name: verdict for name, verdict in self.verdicts(result).items() if verdict not in (HOLDS, GPU_ONLY)}
                self.assertEqual(missed, {check.name: MISSED})
                [row] = [row for row in result["checks"] if row["check"] == check.name]
                print(f"{check.name}, {check.plant}: {row['why']}", flush=True)

    @unittest.skipIf(ONLY, "only some planted faults are wanted")
    def test_what_could_not_be_judged_is_no_success(self):
        done, result = self.run_it("--pretend", "torch_default", PYTHON_TORCH=sys.executable + "-absent")
        self.assertEqual((done.returncode, self.verdicts(result)["torch_default"]), (3, NOT_JUDGED))
        done, result = self.run_it("--pretend", "torch_default", "--without", "torch_default", PYTHON_TORCH=sys.executable + "-absent")
        self.assertEqual((done.returncode, self.verdicts(result)["torch_default"]), (0, LEFT_OUT))
        done, result = self.run_it("--pretend", "resolve", "--minutes", "0.1")
        self.assertEqual((done.returncode, self.verdicts(result)["resolve"]), (3, NOT_JUDGED))
        done, result = self.run_it("--pretend", "driver_interpose", "pictures", HBMSCOPE_FULL="/nowhere")
        self.assertEqual((done.returncode, self.verdicts(result)["pictures"]), (3, NOT_JUDGED))
        done, _ = self.run_it("--pretend", "--build", "/nowhere", "resolve")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("There is no emulated device in /nowhere", done.stderr)
        done, _ = self.run_it("--pretend", "no_such_check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("There is no check no_such_check", done.stderr)

    @unittest.skipIf(ONLY, "only some planted faults are wanted")
    def test_without_a_gpu_or_a_bundle_nothing_is_judged(self):
        nvidia_smi = self.folder / "nvidia-smi"
        for code, sentence in ((1, "There is no NVIDIA GPU here"), (0, "There is no bundle in /nowhere")):
            nvidia_smi.write_text(f"#!/bin/sh\nexit {code}\n")
            nvidia_smi.chmod(0o755)
            done, result = self.run_it("all", PATH=f"{self.folder}:{os.environ['PATH']}", HBMSCOPE_FILES="/nowhere")
            self.assertEqual((done.returncode, result), (2, None))
            self.assertIn(sentence, done.stderr)

    @unittest.skipIf(ONLY, "only some planted faults are wanted")
    def test_the_way_on_a_gpu(self):
        """Without --pretend, on a machine whose driver is the emulated one."""
        nvidia_smi = self.folder / "nvidia-smi"
        nvidia_smi.write_text("#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 580.95.05, 8192'\n")
        nvidia_smi.chmod(0o755)
        device = {**emulated.environment(Path(BUILD) / "emulated"), "HBMSCOPE_DEVICE_BYTES": str(8 << 30), "XLA_FLAGS": "--xla_gpu_autotune_level=0"}
        variables = {**device, "PATH": f"{self.folder}:{os.environ['PATH']}", "HBMSCOPE_FILES": str(Path(BUILD) / "app")}
        names = ["resolve", "driver_interpose", "torch_default", "jax_default", "dry_run_torch", "profiler_torch"]
        done, result = self.run_it(*names, **variables)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        # No kernel runs on this device, so a profiler sees none.
        self.assertEqual(self.verdicts(result), {name: MISSED if name == "profiler_torch" else HOLDS for name in [*names, "leftovers", "memory_back"]})
        self.assertEqual((result["device"], result["driver"]), ("NVIDIA H100 80GB HBM3", "580.95.05"))

    @unittest.skipIf(ONLY, "only some planted faults are wanted")
    def test_nothing_lives_after_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            marker = f"JUDGE_TEST={uuid.uuid4().hex}"
            name, value = marker.split("=")
            judge = subprocess.Popen([HERE / "run.sh", "--build", BUILD, "--pretend", "attach"], env=self.environment(**{name: value}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until = time.monotonic() + 60
            while not any("training.py" in command for command in living(marker)) and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(4)
            self.assertGreater(len(living(marker)), 1)
            judge.send_signal(number)
            self.assertEqual(judge.wait(30), 128 + number)
            self.assertEqual(living(marker), [])


def living(marker):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            pass
    return found


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
