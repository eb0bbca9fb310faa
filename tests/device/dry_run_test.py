#!/usr/bin/env python3
"""hbmscope run --emulate, --sweep and --largest: verdicts and refusals, with programs that call the driver themselves.

    dry_run_test.py HBMSCOPE
"""

import csv
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
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

    def test_the_recording_keeps_the_verdict(self):
        for words, outcome, code in (((), "fits", 0), (("--device-bytes", "2GiB"), "out of memory", 1)):
            with self.subTest(outcome=outcome):
                command = [sys.executable, "job.py", "3000" if code else "100", "0"]
                printed = self.run_it("--emulate", "h100", *words, "--record", "job.hbm", command=command).stdout
                verdict = printed.split("the job's own output\n", 1)[-1]
                self.assertTrue(verdict.startswith(outcome), verdict)
                for command in ("explain", "report"):
                    ask = lambda *more: subprocess.run([HBMSCOPE, command, "job.hbm", *more], cwd=self.path, capture_output=True, text=True)
                    self.assertTrue(ask().stdout.startswith("Dry run: " + verdict + "\n"), ask().stdout + ask().stderr)
                    self.assertEqual(json.loads(ask("--json").stdout)["dry_run"], {"outcome": outcome, "text": verdict})

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
        done = self.run_it("--emulate", "h100", command=[sys.executable, "job.py", "100", "0", "fail"])
        self.assertIn("failed before its end, so it may need more: ValueError: something else (job.py:", done.stdout)

    def write_job(self, text):
        """A job that has take() and then does what the text says."""
        (self.path / "job.py").write_text(JOB.split("call(\"cuMemFree_v2\"")[0] + textwrap.dedent(text))

    def small_verdict(self, code=0, environment=None):
        """On a device with 2 GiB, of which a context takes 502 MiB."""
        return self.verdict("--emulate", "h100", "--device-bytes", "2GiB", job=("0", "0"), code=code, environment=environment)

    def test_lack_of_memory_is_found_however_the_job_ends(self):
        cases = {
            "caught, then exit": "try: take(3000)\nexcept Exception: sys.exit(1)",
            "its own hook": "sys.excepthook = lambda *_: print('mine')\ntake(3000)",
            "another exception": "try: take(3000)\nexcept Exception: raise ValueError('no luck')",
            "from it": "try: take(3000)\nexcept Exception as error: raise KeyError('no luck') from error",
            "in a group": "try: take(3000)\nexcept Exception as error:\n  e = ValueError('all'); e.exceptions = [error]; e.__context__ = None; raise e from None",
            "os._exit": "import os\ntry: take(3000)\nexcept Exception: os._exit(3)",
            "killed": "import os, signal\ntry: take(3000)\nexcept Exception: os.kill(os.getpid(), signal.SIGKILL)",
        }
        for name, text in cases.items():
            with self.subTest(name):
                self.write_job(text)
                found = self.small_verdict(code={"os._exit": 3, "killed": 137}.get(name, 1))
                self.assertEqual(found["outcome"], "out of memory", found)

    def test_a_thread_that_ran_out_is_no_fit(self):
        self.write_job("""
            import threading
            thread = threading.Thread(target=lambda: (call("cuCtxSetCurrent", context), take(3000)))
            thread.start()
        """)
        found = self.small_verdict()
        self.assertEqual(found["outcome"], "out of memory")
        self.assertEqual(found["failure"]["function"], "take")

    def test_a_process_that_ran_out_is_no_fit(self):
        self.write_job("")
        text = (self.path / "job.py").read_text()
        (self.path / "job.py").write_text("import subprocess, sys\nsubprocess.run([sys.executable, 'inner.py', '0', '0'])\n")
        (self.path / "inner.py").write_text(text + "take(3000)\n")
        found = self.small_verdict()
        self.assertEqual(found["outcome"], "out of memory")

    def test_what_a_helper_does_is_the_jobs_own_business(self):
        (self.path / "job.py").write_text("import subprocess, sys\nsubprocess.run([sys.executable, '-c', '1/0'])\n" + JOB)
        self.assertEqual(self.verdict("--emulate", "h100")["outcome"], "fits")

    def test_a_retry_that_succeeds_is_no_lack_of_memory(self):
        self.write_job("try: take(2000)\nexcept Exception: take(1200)\nsys.exit(7)")
        found = self.small_verdict(code=7)
        self.assertEqual((found["outcome"], found["reason"], found["failure"]), ("failed", "exit code 7", None))

    def test_a_job_that_goes_on_without_the_memory_says_so(self):
        self.write_job("try: take(3000)\nexcept Exception: pass")
        found = self.small_verdict()
        self.assertEqual(found["outcome"], "fits")
        self.assertRegex(found["survived"], r"^the driver refused 2\.93 GiB on GPU 0, requested by call .*job\.py:\d+$")

    def explained(self):
        done = subprocess.run([HBMSCOPE, "explain", self.path / "job.hbm", "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["failures"]

    def test_the_last_refusal_explains_a_job_that_dies_with_another_error(self):
        self.write_job("take(1000)\nif call('cuMemAlloc_v2', ctypes.byref(block), u64(3000 << 20)) == 2: raise RuntimeError('CUDA error 2')")
        found = self.small_verdict(code=1)
        self.assertEqual((found["outcome"], found["failure"]["type"], found["survived"]), ("failed", "RuntimeError", None))
        self.assertRegex(found["refused_last"], r"^the driver refused 2\.93 GiB on GPU 0, requested by call .*job\.py:\d+$")
        [failure] = self.explained()
        self.assertEqual((failure["verdict"], failure["is_of_driver"], failure["asked_bytes"], failure["memory_space"]), ("too_big", True, 3000 * MIB, "device"))
        self.assertEqual([one["change"] for one in failure["advice"]], ["request less at once"])

    def test_a_refusal_belongs_to_the_memory_that_was_requested(self):
        self.write_job("host = u64()\ncall('cuMemAllocHost_v2', ctypes.byref(host), u64(1 << 50))\ntake(100)\nsys.exit(3)")
        self.small_verdict(code=3)
        [failure] = self.explained()
        self.assertEqual((failure["verdict"], failure["memory_space"], failure["device"]), ("host_memory", "host_pinned", None))
        self.write_job("host = u64()\ncall('cuMemAllocHost_v2', ctypes.byref(host), u64(1 << 50))\ncall('cuMemAllocHost_v2', ctypes.byref(host), u64(1 << 20))\nsys.exit(3)")
        self.small_verdict(code=3)
        self.assertEqual(self.explained(), [], "the host had room for another request")

    def test_a_refusal_of_another_device_is_answered_there(self):
        create = """
class Properties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location_type", ctypes.c_int), ("location", ctypes.c_int), ("more", ctypes.c_char * 16)]
def create(device, mib):
    return call("cuMemCreate", ctypes.byref(u64()), u64(mib << 20), ctypes.byref(Properties(1, 0, 1, device)), u64(0))
take(10)
assert create(1, 3000) == 2
"""
        for rest, devices in (("assert create(1, 100) == 0", []), ("assert create(0, 100) == 0", [1]), ("", [1])):
            with self.subTest(rest):
                self.write_job(create + rest + "\nsys.exit(3)")
                self.verdict("--emulate", "h100:2", "--device-bytes", "2GiB", job=("0", "0"), code=3)
                self.assertEqual([failure["device"] for failure in self.explained()], devices)

    def test_other_lack_is_no_lack_of_device_memory(self):
        for text in ("raise MemoryError('out of memory')", "raise RuntimeError('RESOURCE_EXHAUSTED: quota')", "raise OSError(12, 'Cannot allocate memory')"):
            with self.subTest(text):
                self.write_job(text)
                self.assertEqual(self.small_verdict(code=1)["outcome"], "failed")

    def test_text_in_no_encoding_survives(self):
        self.write_job("raise ValueError('a\\udcff\\n and ' + 'x' * 500)")
        found = self.small_verdict(code=1)
        self.assertEqual(found["failure"]["type"], "ValueError")

    def test_an_interrupted_job_is_unknown(self):
        self.write_job("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)")
        found = self.small_verdict(code=143)
        self.assertEqual((found["outcome"], found["reason"]), ("unknown", "it was interrupted"))
        self.write_job("raise KeyboardInterrupt")
        self.assertEqual(self.small_verdict(code=130)["outcome"], "unknown")

    def test_memory_that_a_thread_takes_at_the_end_counts(self):
        self.write_job("""
            import threading, time
            def late():
                time.sleep(0.3)
                call("cuCtxSetCurrent", context)
                take(700)
            threading.Thread(target=late).start()
        """)
        (device,) = self.small_verdict()["devices"]
        self.assertEqual(device["peak_bytes"], device["context_bytes"] + 700 * MIB)

    def test_processes_share_a_device(self):
        (self.path / "inner.py").write_text(JOB.replace('call("cuMemFree_v2", take', "(take") + "\nimport time; time.sleep(float(sys.argv[3]))\n")
        (self.path / "job.py").write_text(
            "import subprocess, sys, time\n"
            "first = subprocess.Popen([sys.executable, 'inner.py', '500', '0', '3'], stdout=subprocess.PIPE)\n"
            "first.stdout.readline()\n"
            "sys.exit(subprocess.run([sys.executable, 'inner.py', sys.argv[1], '0', '0']).returncode)\n"
        )
        found = self.verdict("--emulate", "h100", "--device-bytes", "2GiB", job=("400", "0"))
        (device,) = found["devices"]
        self.assertEqual((device["processes"], device["peak_bytes"]), (2, 2 * device["context_bytes"] + 900 * MIB))
        found = self.verdict("--emulate", "h100", "--device-bytes", "2GiB", job=("600", "0"), code=1)
        self.assertEqual(found["outcome"], "out of memory")

    def test_the_lines_that_hold_most_are_named(self):
        self.write_job("kept = take(300)")
        found = self.small_verdict()
        self.assertEqual(found["holders"], [{"line": "call job.py:7", "bytes": 300 * MIB}])

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
        self.assertRegex(lines[2], r"^Most of it at the peak: 100 MiB by call job\.py:7\.$")
        self.assertRegex(lines[3], r"^Assumed: a context takes 502 MiB, and how the driver rounds requests\.")
        self.assertIn("emulating NVIDIA H100 80GB, 79.1 GiB", done.stderr)

    def test_a_job_that_uses_no_device_is_unknown(self):
        found = self.verdict("--emulate", "h100", job=("-1", "99"), code=1)
        self.assertEqual(found["outcome"], "failed")
        done = self.run_it("--emulate", "h100", "--json", command=["true"])
        self.assertEqual(json.loads(done.stdout)["outcome"], "unknown")
        for words, environment, expected in [
            ([sys.executable, "-I", "-c", ""], {}, "used an emulated device: python -I keeps it from loading what JAX needs to find the devices"),
            (["env", "A=b", sys.executable, "-c", ""], {"JAX_PLATFORMS": "cpu"}, "used an emulated device: JAX_PLATFORMS is cpu"),
            (["true"], {"CUDA_VISIBLE_DEVICES": "-1"}, "CUDA_VISIBLE_DEVICES is '-1', which hides all devices"),
        ]:
            with self.subTest(words):
                self.assertIn(expected, self.run_it("--emulate", "h100", command=words, environment=environment).stdout)

    def test_a_process_that_reports_nothing_is_known_from_the_recording(self):
        (self.path / "job.py").write_text(JOB + "import os; sys.stdout.flush(); os._exit(0)\n")
        (device,) = self.verdict("--emulate", "h100")["devices"]
        self.assertEqual(device["peak_bytes"], device["context_bytes"] + 100 * MIB)
        (self.path / "job.py").write_text(JOB.replace("raise OutOfMemoryError", "__import__('os')._exit(9) or"))
        found = self.verdict("--emulate", "h100", "--device-bytes", "2GiB", job=("3000", "0"), code=9)
        self.assertEqual(found["outcome"], "out of memory")
        self.assertIn("the driver refused 2.93 GiB on GPU 0, requested by call ", found["failure"]["text"])

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

    def test_a_sweep_passes_its_options_on(self):
        done = self.run_it(
            "--emulate", "h100", "--sweep", "mib=100,200", "--record", "sweep", "--stacks", "none", command=[sys.executable, "job.py", "{mib}", "0"]
        )
        rows = subprocess.run([HBMSCOPE, "export", next((self.path / "sweep").glob("*.hbm")), "--to", "csv", "--what", "blocks"], capture_output=True, text=True, check=True)
        stacks = [row["own_line"] for row in csv.DictReader(rows.stdout.splitlines())]
        self.assertTrue(stacks and not any(stacks), stacks)
        self.assertIn("hbmscope report --series sweep compares them", done.stdout)
        report = subprocess.run([HBMSCOPE, "report", "--series", self.path / "sweep"], capture_output=True, text=True)
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_a_sweep_that_is_asked_to_end_ends_its_jobs(self):
        (self.path / "job.py").write_text("import os, time\nopen(f'started-{os.getpid()}', 'w')\ntime.sleep(100)\n")
        sweep = subprocess.Popen(
            [HBMSCOPE, "run", "--emulate", "h100", "--sweep", "n=1,2,3,4,5,6", "--record", "sweep", "--", sys.executable, "job.py", "{n}"],
            cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        while not list(self.path.glob("started-*")):
            time.sleep(0.05)
        sweep.terminate()
        text, _ = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 143)
        self.assertIn("not run", text)
        for started in self.path.glob("started-*"):
            self.assertFalse(os.path.exists(f"/proc/{started.name[8:]}"))

    def test_refusals_say_what_to_do(self):
        def python(prints=None, **packages):
            """A Python that has these packages."""
            folder = self.path / f"environment-{len(list(self.path.iterdir()))}"
            folder.mkdir()
            path = folder / "python3"
            path.write_text(f"#!/bin/sh\necho greetings\necho '{prints or json.dumps(packages)}'\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            return [str(path)]

        (self.path / "full").mkdir()
        (self.path / "full" / "old.hbm").touch()
        (self.path / "static").write_bytes(b"\177ELF" + b"x" * 3_000_000 + b"libcudart_static_955d0e85")
        for words, command, expected in [
            (["--emulate", "h100"], ["./static"], "has NVIDIA's CUDA runtime linked into it, which does not run on an emulated device. Link it"),
            (["--emulate", ""], ["true"], "a name of a device is missing"),
            (["--emulate", "h100", "--on", "gpu7"], ["true"], "--emulate does not go with --on"),
            (["--emulate", "h100,h100"], ["true"], "--emulate names h100 twice"),
            (["--emulate", "h100", "--sweep", "n=1,2", "--sweep", "n=3"], ["true", "{n}"], "--sweep n is given twice"),
            (["--emulate", "h100", "--sweep", "n=1,2,1"], ["true", "{n}"], "1 is listed twice"),
            (["--emulate", "h100", "--sweep", "n=4..4", "--largest", "n"], ["true", "{n}"], "from a whole number to a larger one"),
            (["--emulate", "h100", "--sweep", "n=1..9223372036854775807", "--largest", "n"], ["true", "{n}"], "the range is too large"),
            (["--emulate", "h100", "--sweep", "n=1,2", "--record", "full"], ["true", "{n}"], "full: the folder is not empty"),
            (["--emulate", "h100", "--sweep", "n=1,2", "--listen", "9000"], ["true", "{n}"], "--listen does not go with a sweep"),
            (["--emulate", "h100,l4"], python(jax="0.6.2"), "JAX 0.6.2 in this Python has no CUDA plugin"),
            (["--emulate", "h100"], python(prints="what?"), "instead of a list of its packages"),
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
            (["--emulate", "h100"], python(tensorflow="2.20.0"), "TensorFlow 2.20.0 in this Python was built without CUDA"),
            (["--emulate", "h100"], python(jax="0.6.2", jax_cuda=[12], has_ptxas=False), "JAX's compiler needs ptxas"),
            (["--emulate", "h100"], python(jax="0.10.2", jax_cuda=[13], has_libdevice=False), "pip install nvidia-nvvm."),
        ]:
            with self.subTest(words):
                done = self.run_it(*words, command=command)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, "")
        done = self.run_it("--emulate", "h100", command=["true"], environment={"TMPDIR": "/nowhere"})
        self.assertIn("cannot make a folder for temporary files in /nowhere: No such file or directory. Set TMPDIR", done.stderr)

    def test_a_program_that_is_only_named_like_python_is_not_started_as_one(self):
        script = self.path / "python_train.sh"
        script.write_text("#!/bin/sh\necho started >> log\n")
        script.chmod(0o755)
        self.run_it("--emulate", "h100", command=["./python_train.sh"])
        self.assertEqual((self.path / "log").read_text(), "started\n")

    def test_values_may_be_paths(self):
        done = self.run_it("--emulate", "h100", "--sweep", "data=../a,../b", "--record", "sweep", command=["true", "{data}"])
        self.assertIn("../b", done.stdout)

    def test_closed_standard_streams_do_no_harm(self):
        script = f"{HBMSCOPE} run --no-flight --emulate h100 --record job.hbm -- {sys.executable} job.py 100 0 >&- <&-"
        done = subprocess.run(["sh", "-c", script], cwd=self.path, capture_output=True, text=True)
        self.assertTrue((self.path / "job.hbm").exists(), done.stderr)


if __name__ == "__main__":
    unittest.main()
