#!/usr/bin/env python3
"""hbmscope run --emulate, --sweep and --largest: verdicts and refusals, with programs that call the driver themselves.

    dry_run_test.py HBMSCOPE
"""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HBMSCOPE = os.path.abspath(sys.argv.pop(1))
MIB, GIB = 1 << 20, 1 << 30
# Takes so many MiB on the device that the second argument names, frees them, and does what the third one says.
JOB = """
import ctypes, sys
class OutOfMemoryError(RuntimeError): pass
cuda = ctypes.CDLL("libcuda.so.1")
u64 = ctypes.c_uint64
def call(name, *arguments):
    return getattr(cuda, name)(*arguments)
context, block = u64(), u64()
def take(mib):
    if call("cuMemAlloc_v2", ctypes.byref(block), u64(mib << 20)) != 0:
        raise OutOfMemoryError(f"tried to allocate {mib} MiB")
    return u64(block.value)
assert call("cuInit", 0) == 0
assert call("cuDevicePrimaryCtxRetain", ctypes.byref(context), int(sys.argv[2])) == 0
assert call("cuCtxSetCurrent", context) == 0
call("cuMemFree_v2", take(int(sys.argv[1])))
print("the job's own output")
if sys.argv[3:] == ["fail"]:
    raise ValueError("something else")
"""


class DryRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "job.py").write_text(JOB)

    def run_it(self, *words, command=None, environment=None):
        command = command or [sys.executable, "job.py"]
        given = {**os.environ, **(environment or {})}
        given.pop("DISPLAY", None)
        return subprocess.run(
            [HBMSCOPE, "run", "--no-flight", *words, "--", *command], cwd=self.path, env=given, capture_output=True, text=True, timeout=120
        )

    def verdict(self, *words, job=("100", "0"), code=0, environment=None):
        command = [sys.executable, "job.py", *job]
        done = self.run_it("--json", "--record", "job.hbm", *words, command=command, environment=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_what_fits_has_the_peak_and_what_is_left(self):
        found = self.verdict("--emulate", "h100")
        self.assertEqual(found["outcome"], "fits")
        self.assertEqual(found["device"], "h100-80")
        (device,) = found["devices"]
        self.assertEqual(device["peak_bytes"], device["context_bytes"] + 100 * MIB)
        self.assertEqual(device["spare_bytes"], device["total_bytes"] - device["peak_bytes"])
        self.assertEqual(found["device_bytes"], device["total_bytes"])
        self.assertTrue((self.path / "job.hbm").exists())

    def test_the_recording_has_the_same_peak(self):
        (device,) = self.verdict("--emulate", "h100")["devices"]
        report = subprocess.run([HBMSCOPE, "report", "--json", self.path / "job.hbm"], capture_output=True, text=True, check=True)
        peaks = [heap["peak_in_use_bytes"] for heap in json.loads(report.stdout)["heaps"]]
        self.assertEqual(max(peaks), device["peak_bytes"] - device["context_bytes"])

    def test_what_does_not_fit_names_the_line(self):
        found = self.verdict("--emulate", "h100", "--device-bytes", "2GiB", job=("3000", "0"), code=1)
        self.assertEqual(found["outcome"], "out of memory")
        self.assertEqual(found["failure"]["text"], "tried to allocate 3000 MiB")
        self.assertEqual(found["failure"]["function"], "take")
        self.assertEqual(pathlib.Path(found["failure"]["file"]).name, "job.py")
        self.assertEqual(found["devices"][0]["total_bytes"], 2 * GIB)

    def test_another_error_is_no_lack_of_memory(self):
        found = self.verdict("--emulate", "h100", job=("100", "0", "fail"), code=1)
        self.assertEqual(found["outcome"], "failed")
        self.assertEqual(found["failure"]["type"], "ValueError")

    def test_devices_are_numbered_as_on_the_machine(self):
        devices = self.verdict("--emulate", "a100-40:4", job=("100", "3"))["devices"]
        self.assertEqual([device["device"] for device in devices], [3])
        devices = self.verdict("--emulate", "a100-40:4", job=("100", "1"), environment={"CUDA_VISIBLE_DEVICES": "0,2"})["devices"]
        self.assertEqual([device["device"] for device in devices], [2])

    def test_the_text_leads_with_the_verdict(self):
        done = self.run_it("--emulate", "h100", "--record", "job.hbm", command=[sys.executable, "job.py", "100", "0"])
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "the job's own output")
        self.assertRegex(lines[1], r"^fits: peak 602 MiB of 79\.1 GiB, 78\.5 GiB to spare$")
        self.assertRegex(lines[2], r"^Assumed: a context takes 502 MiB\.")
        self.assertIn("emulating NVIDIA H100 80GB, 79.1 GiB", done.stderr)

    def test_a_job_that_uses_no_device_is_unknown(self):
        found = self.verdict("--emulate", "h100", job=("-1", "99"), code=1)
        self.assertEqual(found["outcome"], "failed")
        done = self.run_it("--emulate", "h100", "--json", command=["true"])
        self.assertEqual(json.loads(done.stdout)["outcome"], "unknown")

    def test_a_process_that_reports_nothing_is_known_from_the_recording(self):
        (self.path / "job.py").write_text(JOB + "import os; sys.stdout.flush(); os._exit(0)\n")
        (device,) = self.verdict("--emulate", "h100")["devices"]
        self.assertEqual(device["peak_bytes"], device["context_bytes"] + 100 * MIB)
        (self.path / "job.py").write_text(JOB.replace("raise OutOfMemoryError", "__import__('os')._exit(9) or"))
        found = self.verdict("--emulate", "h100", "--device-bytes", "2GiB", job=("3000", "0"), code=9)
        self.assertEqual(found["outcome"], "out of memory")
        self.assertIn("the driver refused 2.93 GiB, requested by call ", found["failure"]["text"])

    def test_the_users_own_settings_stay(self):
        command = [sys.executable, "-c", "import os; print(os.environ['PYTHONPATH'].split(':')[1], os.environ['LD_LIBRARY_PATH'].split(':')[1])"]
        done = self.run_it("--emulate", "h100", command=command, environment={"PYTHONPATH": "/mine", "LD_LIBRARY_PATH": "/my/lib"})
        self.assertEqual(done.stdout.splitlines()[0], "/mine /my/lib")

    def test_a_sweep_is_a_table_of_devices_and_values(self):
        done = self.run_it(
            "--emulate", "h100,t4", "--sweep", "mib=100,20000", "--json", "--record", "sweep", command=[sys.executable, "job.py", "{mib}", "0"]
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [(run["device"], run["values"]["mib"], run["verdict"]["outcome"]) for run in json.loads(done.stdout)["runs"]]
        self.assertEqual(
            found, [("h100", "100", "fits"), ("h100", "20000", "fits"), ("t4", "100", "fits"), ("t4", "20000", "out of memory")]
        )
        self.assertEqual(len(list((self.path / "sweep").glob("*.hbm"))), 4)

    def test_the_largest_value_is_found_to_the_byte(self):
        done = self.run_it(
            "--emulate", "h100", "--device-bytes", "2GiB", "--sweep", "mib=1..4096", "--largest", "mib", "--json", "--record", "sweep",
            command=[sys.executable, "job.py", "{mib}", "0"],
        )
        found = json.loads(done.stdout)["largest"]
        # 2,048 MiB without the context of 502 MiB; blocks are multiples of 2 MiB.
        self.assertEqual(found, [{"device": "h100", "name": "mib", "value": "1546"}])

    def test_a_search_stops_at_an_error_that_is_none_of_memory(self):
        done = self.run_it(
            "--emulate", "h100", "--sweep", "mib=1..64", "--largest", "mib", "--record", "sweep", command=[sys.executable, "job.py", "{mib}", "0", "fail"]
        )
        self.assertIn("h100: unknown, because mib = 32 failed: ValueError", done.stdout)

    def test_refusals_say_what_to_do(self):
        def python(**packages):
            """A Python that has these packages."""
            path = self.path / f"python-{len(list(self.path.iterdir()))}"
            path.write_text("#!/bin/sh\necho '" + json.dumps(packages) + "'\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            return [str(path)]

        for words, command, expected in [
            (["--emulate", "h1000"], ["true"], "there is no device 'h1000' to emulate. hbmscope emulate lists the devices."),
            (["--emulate", "mi300x"], ["true"], "is not a CUDA device"),
            (["--emulate", "h100:17"], ["true"], "'17' is not a number of devices between 1 and 16"),
            (["--emulate", "h100", "--device-bytes", "7"], ["true"], "'7' is not a size of 1 GiB or more"),
            (["--emulate", "h100", "--sweep", "batch=4"], ["true"], "the command has no {batch}"),
            (["--emulate", "h100", "--sweep", "batch"], ["true"], "--sweep 'batch': it has no name"),
            (["--emulate", "h100", "--sweep", "b=4..2", "--largest", "b"], ["true", "{b}"], "a range goes from a whole number to a larger one"),
            (["--emulate", "h100", "--sweep", "b=1..2"], ["true", "{b}"], "is for --largest"),
            (["--emulate", "h100"], python(jax="0.6.2"), 'JAX 0.6.2 in this Python has no CUDA plugin, so it would run on the CPU. pip install "jax[cuda12]==0.6.2"'),
            (["--emulate", "h100"], python(torch="2.9.1+cpu"), "PyTorch 2.9.1+cpu in this Python was built without CUDA. pip install torch==2.9.1 --index-url"),
            (["--emulate", "h100"], python(torch="2.1.0", torch_cuda="11.8"), "PyTorch 2.1.0 in this Python was built for CUDA 11.8. CUDA 12 and 13"),
            (["--emulate", "h100"], python(jax="0.6.2", jax_cuda=[12], has_ptxas=False), "JAX's compiler needs ptxas"),
            (["--emulate", "h100"], python(jax="0.10.2", jax_cuda=[13], has_libdevice=False), "pip install nvidia-nvvm."),
        ]:
            with self.subTest(words):
                done = self.run_it(*words, command=command)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
