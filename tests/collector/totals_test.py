#!/usr/bin/env python3
"""What the driver tells of devices and who holds their memory: ps, watch --totals, and in recordings, with a pretend NVML.

    totals_test.py HBMSCOPE FOLDER_OF_FAKE_NVML FOLDER_OF_EMULATED_DRIVER
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

HBMSCOPE, LIBRARY, CUDA = sys.argv[1:4]
GIB = 1 << 30


class Totals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.reported = Path(folder.name) / "nvml"
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder.name, LD_LIBRARY_PATH=LIBRARY, FAKE_NVML=str(self.reported))
        self.job = subprocess.Popen(["sleep", "60"], env={"PATH": os.environ["PATH"], "RANK": "3", "CUDA_VISIBLE_DEVICES": "0"})
        self.addCleanup(self.job.wait)
        self.addCleanup(self.job.kill)

    def report(self, *lines):
        beside = self.reported.with_suffix(".new")
        beside.write_text("\n".join(lines) + "\n")
        beside.rename(self.reported)

    def start(self, *words):
        process = subprocess.Popen([HBMSCOPE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        for closed in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(closed)
        return process

    def run_it(self, *words):
        return subprocess.run([HBMSCOPE, *words], capture_output=True, text=True, env=self.environment, timeout=60)

    def test_a_line_at_each_interval_follows_what_the_driver_reports(self):
        pid = self.job.pid
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA H200", f"holder {pid} {3 * GIB}", "holder 1 17", f"device {80 * GIB} 5 NVIDIA H200")
        watch = self.start("watch", str(pid), "--totals", "--json", "--every", "0.05")
        first = json.loads(watch.stdout.readline())
        self.assertEqual((first["schema"], first["pid"]), (1, pid))
        self.assertEqual(
            first["devices"],
            [
                {"device": 0, "name": "NVIDIA H200", "is_told": True, "bytes": 3 * GIB, "used_bytes": 10 * GIB, "total_bytes": 80 * GIB, "title": "GPU 0", "uuid": None},
                {"device": 1, "name": "NVIDIA H200", "is_told": False, "bytes": None, "used_bytes": 5, "total_bytes": 80 * GIB, "title": "GPU 1", "uuid": None},
            ],
        )
        self.report(f"device {80 * GIB} {12 * GIB} NVIDIA H200", f"holder {pid} {4 * GIB}", f"holder {pid} {GIB}")
        for line in watch.stdout:
            now = json.loads(line)["devices"]
            if now[0]["bytes"] == 5 * GIB:
                break
        self.assertEqual(now[0]["used_bytes"], 12 * GIB)
        self.job.kill()
        self.job.wait()
        self.assertEqual(watch.wait(timeout=30), 0)

    def test_unknown_is_not_zero(self):
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA A100 MIG 1g.10gb", f"holder {self.job.pid} -")
        done = self.run_it("watch", str(self.job.pid), "--totals", "--json", "--for", "0.1")
        [device] = json.loads(done.stdout.splitlines()[0])["devices"]
        self.assertEqual((device["is_told"], device["bytes"]), (True, None))
        text = self.run_it("watch", str(self.job.pid), "--totals", "--for", "0.1").stdout
        self.assertIn("an unknown amount in process", text)
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA A100")
        text = self.run_it("watch", str(self.job.pid), "--totals", "--for", "0.1").stdout
        self.assertIn("the driver reports no device memory for process", text)

    def test_refusals(self):
        done = self.run_it("watch", str(self.job.pid), "--totals")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--totals needs NVIDIA's driver", done.stderr)
        self.assertIn("there is no process", self.run_it("watch", str(2**22 + 1), "--totals").stderr)

    def test_ps_has_them_by_device(self):
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA H200", f"holder {self.job.pid} {3 * GIB}", "holder 4190000 1024")
        listing = json.loads(self.run_it("ps", "--json").stdout)
        self.assertEqual(listing["devices"], [{"name": "NVIDIA H200", "total_bytes": 80 * GIB, "used_bytes": 10 * GIB, "title": "GPU 0", "uuid": None}])
        [job] = [job for job in listing["jobs"] if job["pid"] == self.job.pid]
        self.assertEqual(job["devices"], [{"device": 0, "bytes": 3 * GIB}])
        text = self.run_it("ps").stdout
        self.assertIn("GPU 0  NVIDIA H200  10.0 GiB of 80.0 GiB in use", text)
        self.assertIn("7.00 GiB  the driver and unknown processes", text)

    def test_a_recording_has_what_the_driver_reports_about_its_process(self):
        job = f"""
            import ctypes as C, os, time
            cuda = C.CDLL("libcuda.so.1")
            def tell(used, held):
                with open(os.environ["FAKE_NVML"] + ".new", "w") as new:
                    new.write(f"device {80 * GIB} {{used}} NVIDIA H200\\nholder {{os.getpid()}} {{held}}\\nholder 1 17\\ndevice {80 * GIB} 5 NVIDIA H200\\n")
                os.rename(new.name, os.environ["FAKE_NVML"])
                reading = os.environ["FAKE_NVML"] + ".read"
                size = lambda: os.path.getsize(reading) if os.path.exists(reading) else 0
                enough = size() + 3  # One may have begun before; one has reached the recording.
                while size() < enough:
                    time.sleep(0.01)
            cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(1 << 20))
            tell({10 * GIB}, {2 * GIB})
            tell({12 * GIB}, {5 * GIB})
            """
        recording = str(self.reported.with_suffix(".hbm"))
        environment = dict(self.environment, LD_LIBRARY_PATH=f"{LIBRARY}:{CUDA}/bound")
        subprocess.run([HBMSCOPE, "run", "--no-window", "--record", recording, "--", sys.executable, "-c", textwrap.dedent(job)], check=True, env=environment, timeout=60)
        report = json.loads(self.run_it("report", recording, "--json").stdout)
        reported = {row["name"]: (row["least"], row["most"], row["value"]) for row in report["counters"]}
        self.assertEqual(reported["GPU 0 bytes held by this process (NVML)"], (2 * GIB, 5 * GIB, 5 * GIB))
        self.assertEqual(reported["GPU 0 bytes in use by all processes (NVML)"], (10 * GIB, 12 * GIB, 12 * GIB))
        self.assertFalse([name for name in reported if name.startswith("GPU 1")], "the process holds nothing there")

    def test_the_driver_reports_what_a_process_holds_at_the_attach(self):
        wait = "import ctypes, time; ctypes.CDLL('libcuda.so.1'); print('ready', flush=True); time.sleep(60)"
        job = subprocess.Popen([sys.executable, "-c", wait], stdout=subprocess.PIPE, text=True, env=dict(self.environment, LD_LIBRARY_PATH=f"{CUDA}/bound"))
        for closed in (job.stdout.close, job.wait, job.kill):
            self.addCleanup(closed)
        self.assertEqual(job.stdout.readline(), "ready\n")
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA H200", f"holder {job.pid} {3 * GIB}")
        recording = str(self.reported.with_suffix(".hbm"))
        attaching = self.start("attach", str(job.pid), "--no-cupti", "--no-window", "--record", recording, "--for", "4s")
        attaching.stderr.readline()
        watch = self.start("watch", str(job.pid), "--for", "1.2s", "--every", "0.3s")
        beside = self.start("watch", str(job.pid), "--for", "1.2s", "--every", "0.3s", "--json")
        time.sleep(1)
        said, errors = watch.communicate(timeout=30)
        self.assertIn("GPU 0 bytes held by this process (NVML): 3.00 GiB", said, errors)
        self.assertIn("CUDA driver calls are not recorded: CUPTI is left to the job", said)
        last = json.loads(beside.communicate(timeout=30)[0].splitlines()[-1])
        self.assertIn(3 * GIB, [row["value"] for row in last["counters"]])
        self.report(f"device {80 * GIB} 5 NVIDIA H200")  # It has let go of it.
        self.assertEqual(attaching.wait(timeout=30), 0)
        report = json.loads(self.run_it("report", recording, "--json").stdout)
        [attached] = report["attached"]
        self.assertEqual((attached["held_bytes"], attached["identified_bytes"]), (3 * GIB, 0))
        self.assertIn("s later the process held 3.00 GiB on its devices; 0 B of it is identified, 3.00 GiB is not.", self.run_it("report", recording).stdout)
        reported = {row["name"]: (row["most"], row["value"]) for row in report["counters"]}
        self.assertEqual(reported["GPU 0 bytes held by this process (NVML)"], (3 * GIB, 0))

    def test_totals_alone_are_recorded_and_nothing_is_loaded_into_the_job(self):
        pid, recording = self.job.pid, str(self.reported.with_suffix(".hbm"))
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA H200", f"holder {pid} {3 * GIB}")
        watching = self.start("attach", str(pid), "--totals", "--no-window", "--record", recording)
        self.assertIn("nothing is loaded into it", watching.stderr.readline())
        self.assertNotIn("hbmscope", Path(f"/proc/{pid}/maps").read_text())
        self.assertIn(f"observed by hbmscope {watching.pid}", self.run_it("ps").stdout)
        self.assertIn("is already observed by hbmscope", self.run_it("attach", str(pid), "--totals").stderr)
        lines = self.run_it("watch", str(pid), "--for", "0.5", "--every", "0.1").stdout
        self.assertIn("GPU 0 bytes held by this process (NVML): 3.00 GiB", lines)
        self.assertEqual(self.run_it("detach", str(pid)).returncode, 0)
        self.assertEqual(watching.wait(timeout=30), 0)
        self.assertNotIn("hbmscope", Path(f"/proc/{pid}/maps").read_text())
        self.assertRegex(watching.stderr.read(), "[1-9][0-9]* events of 1 process .0 lost.")
        text = self.run_it("report", recording).stdout
        self.assertIn("Watched by its totals since 20", text)
        self.assertIn("the process held 3.00 GiB on its devices.\nCUDA driver calls are not recorded: nothing is loaded into the job (--totals).", text)
        for fact in ("command +sleep 60", "variable.CUDA_VISIBLE_DEVICES +0", "rank +3"):
            self.assertRegex(text, rf"(?m)^{fact}$")
        [attached] = json.loads(self.run_it("report", recording, "--json").stdout)["attached"]
        self.assertEqual((attached["is_left_alone"], attached["held_bytes"], attached["identified_bytes"]), (True, 3 * GIB, 0))

    def test_totals_alone_end_with_the_job(self):
        pid, recording = self.job.pid, str(self.reported.with_suffix(".hbm"))
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA H200", f"holder {pid} {3 * GIB}")
        watching = self.start("attach", str(pid), "--totals", "--no-window", "--record", recording)
        self.assertIn("nothing is loaded into it", watching.stderr.readline())
        self.job.kill()  # Nobody waits for it yet.
        self.assertEqual(watching.wait(timeout=30), 0)
        self.assertIn("there is no such process", self.run_it("attach", str(pid), "--totals").stderr)
        self.assertEqual(self.run_it("check", recording).returncode, 0)

    def test_totals_alone_are_refused_where_there_are_none(self):
        pid = str(self.job.pid)
        self.assertIn("--totals needs NVIDIA's driver", self.run_it("attach", pid, "--totals").stderr)
        self.report(f"device {80 * GIB} {10 * GIB} NVIDIA H200")
        self.assertIn("there is no such process", self.run_it("attach", str(2**22 + 1), "--totals").stderr)
        self.assertIn("--no-cupti excludes --totals", self.run_it("attach", pid, "--totals", "--no-cupti").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
