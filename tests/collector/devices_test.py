#!/usr/bin/env python3
"""Devices are identified by their UUIDs: jobs on an emulated machine with four devices, and a simulated NVML.

    devices_test.py HBMSCOPE FOLDER_OF_FAKE_NVML FOLDER_OF_EMULATED_DRIVER
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from own_folder import OwnFolderTest

HBMSCOPE, NVML, CUDA = sys.argv[1:4]
MIB, GIB = 1 << 20, 1 << 30
# Allocates the given MiB on its first device. With a second argument: makes NVML report it, and waits until it is recorded.
JOB = """
import ctypes, os, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
at = ctypes.c_uint64()
assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(int(sys.argv[1]) << 20)) == 0
if len(sys.argv) > 2:
    with open(os.environ["FAKE_NVML"] + ".new", "w") as new:
        new.write(sys.argv[2].replace("PID", str(os.getpid())))
    os.rename(new.name, os.environ["FAKE_NVML"])
    reading = os.environ["FAKE_NVML"] + ".read"
    before = os.path.getsize(reading) if os.path.exists(reading) else 0
    while not os.path.exists(reading) or os.path.getsize(reading) < before + 3:  # One may have begun before; one has reached the recording.
        time.sleep(0.01)
"""


def uuid(device, kind="GPU"):
    return f"{kind}-68626d{device:02x}-636f-7065-0000-000000000000"


class Devices(OwnFolderTest):
    def setUp(self):
        super().setUp()
        (self.folder / "job.py").write_text(JOB)
        (self.folder / "nvml").write_text(f"device {80 * GIB} 0 H200\nuuid {uuid(9)}\n")  # Where NVML has no device at first, it is read only once.
        self.environment.update(LD_LIBRARY_PATH=f"{NVML}:{CUDA}/bound", FAKE_NVML=str(self.folder / "nvml"), HBMSCOPE_DEVICE_COUNT="4")
        for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "RANK"):
            self.environment.pop(name, None)

    def record(self, *jobs, options=()):
        """Each job is its environment and MiB."""
        job = f"{sys.executable} {self.folder / 'job.py'}"
        script = "; ".join(f"{variables} {job} {mib}" for variables, mib in jobs)
        done = subprocess.run([HBMSCOPE, "run", "--no-window", *options, "--record", self.recording, "--", "sh", "-c", script], capture_output=True, text=True, env=self.environment, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.report()

    def report(self):
        return json.loads(subprocess.run([HBMSCOPE, "report", self.recording, "--json"], capture_output=True, text=True, check=True).stdout)

    def figures_of_the_jobs_device(self, report):
        """Without those of the device that NVML had at first."""
        return {row["name"]: row["value"] for row in report["counters"] if not row["name"].startswith("machine's")}

    def by_device(self, report):
        return {row["device"]: row["bytes"] // MIB for row in report["by_device"]}

    def test_four_processes_with_a_device_each(self):
        report = self.record(*((f"CUDA_VISIBLE_DEVICES={i}", 10 + i) for i in range(4)))
        self.assertEqual(self.by_device(report), {f"GPU 0 ({uuid(i)[:12]})": 10 + i for i in range(4)})
        self.assertEqual(sorted(heap["device_uuid"] for heap in report["heaps"]), [uuid(i) for i in range(4)])
        text = subprocess.run([HBMSCOPE, "report", self.recording], capture_output=True, text=True, check=True).stdout
        self.assertIn("on 4 devices", text)

    def test_ranks_are_labels(self):
        report = self.record(*((f"RANK={i} CUDA_VISIBLE_DEVICES={i}", 10 + i) for i in range(4)))
        self.assertEqual(self.by_device(report), {f"GPU 0 (rank {i})": 10 + i for i in range(4)})

    def test_ranks_that_share_a_device_add_up(self):
        report = self.record(*((f"RANK={i} CUDA_VISIBLE_DEVICES=2", 10 + i) for i in range(4)))
        self.assertEqual(self.by_device(report), {"GPU 0": 46})
        self.assertEqual({heap["rank"] for heap in report["heaps"]}, {0, 1, 2, 3})

    def test_a_device_has_one_identity_however_it_is_chosen(self):
        report = self.record(("CUDA_VISIBLE_DEVICES=2", 1), (f"CUDA_VISIBLE_DEVICES={uuid(2)}", 2), (f"CUDA_VISIBLE_DEVICES={uuid(2)[:12]},0", 4), ("CUDA_VISIBLE_DEVICES=0,2", 8))
        self.assertEqual(self.by_device(report), {f"GPU 0 ({uuid(2)[:12]})": 7, f"GPU 0 ({uuid(0)[:12]})": 8})

    def test_the_order_of_devices_is_not_that_of_nvml(self):
        self.environment["HBMSCOPE_DEVICE_FASTEST"] = "3"
        report = self.record(("", 1), ("CUDA_DEVICE_ORDER=PCI_BUS_ID", 2), ("CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=3", 4))
        self.assertEqual(self.by_device(report), {f"GPU 0 ({uuid(3)[:12]})": 5, f"GPU 0 ({uuid(0)[:12]})": 2})

    def test_slices_are_devices_of_their_own(self):
        self.environment["HBMSCOPE_DEVICE_MIG"] = "1"
        report = self.record(("CUDA_VISIBLE_DEVICES=0", 1), (f"CUDA_VISIBLE_DEVICES={uuid(1, 'MIG')}", 2))
        self.assertEqual(self.by_device(report), {f"GPU 0 ({uuid(i, 'MIG')[:12]})": 1 + i for i in range(2)})

    def test_the_drivers_figures_are_joined_by_uuid(self):
        nvml = "".join(f"device {80 * GIB} {i * GIB} H200\nuuid {uuid(i)}\n" + ("holder PID 7\n" if i == 2 else "") for i in range(4))
        report = self.record(("CUDA_VISIBLE_DEVICES=2", f"3 '{nvml}'"))
        figures = self.figures_of_the_jobs_device(report)
        self.assertEqual(figures, {"GPU 0 bytes held by this process (NVML)": 7, "GPU 0 bytes in use by all processes (NVML)": 2 * GIB})

    def test_what_a_device_reports_and_what_of_it_is_explained(self):
        nvml = f"device {80 * GIB} {4 * GIB} H200\nuuid {uuid(0)}\nholder PID {500 * MIB}\n"
        report = self.record(("CUDA_VISIBLE_DEVICES=0", f"30 '{nvml}'"))
        [account] = report["device_accounts"]
        self.assertEqual((account["outside_pools_bytes"], account["pools_bytes"], account["kept_bytes"]), (30 * MIB, 0, 0))
        self.assertEqual(account["owners"], [{"owner": "the program itself", "bytes": 30 * MIB, "blocks": 1}])
        self.assertEqual((account["reported_bytes"], account["all_processes_bytes"], account["unexplained_bytes"]), (500 * MIB, 4 * GIB, 470 * MIB))
        text = subprocess.run([HBMSCOPE, "report", self.recording], capture_output=True, text=True, check=True).stdout
        self.assertIn("GPU 0: the device reports 500 MiB for this process, 470 MiB of it unexplained", text)

    def test_the_drivers_figures_of_a_slice(self):
        self.environment["HBMSCOPE_DEVICE_MIG"] = "1"
        nvml = f"device {80 * GIB} {50 * GIB} H200\nuuid {uuid(7)}\nholder PID 9\nslice {10 * GIB} {GIB} H200 MIG 1g\nuuid {uuid(0, 'MIG')}\nslice {10 * GIB} {2 * GIB} H200 MIG 1g\nuuid {uuid(1, 'MIG')}\nholder PID 5\n"
        report = self.record(("CUDA_VISIBLE_DEVICES=1", f"3 '{nvml}'"))
        figures = self.figures_of_the_jobs_device(report)
        self.assertEqual(figures, {"GPU 0 bytes held by this process (NVML)": 5, "GPU 0 bytes in use by all processes (NVML)": 2 * GIB})
        listing = json.loads(subprocess.run([HBMSCOPE, "ps", "--json"], capture_output=True, text=True, env=self.environment, check=True).stdout)
        self.assertEqual([(device["title"], device["uuid"], device["used_bytes"]) for device in listing["devices"]],
                         [("GPU 0 MIG 0", uuid(0, "MIG"), GIB), ("GPU 0 MIG 1", uuid(1, "MIG"), 2 * GIB)])

    def test_what_a_device_does_not_report_is_unknown(self):
        host = next(line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
        (self.folder / "nvml").write_text(f"device 0 0 NVIDIA GB10\nsilent\nuuid {uuid(0)}\nholder {os.getpid()} 4096\ndevice {int(host) << 10} 5 NVIDIA Thor\n")
        listing = json.loads(subprocess.run([HBMSCOPE, "ps", "--json"], capture_output=True, text=True, env=self.environment, check=True).stdout)
        self.assertEqual([(device["total_bytes"], device["used_bytes"]) for device in listing["devices"]], [(None, None)] * 2)
        self.assertIn({"device": 0, "bytes": 4096}, [held for job in listing["jobs"] for held in job["devices"]])
        text = subprocess.run([HBMSCOPE, "ps"], capture_output=True, text=True, env=self.environment, check=True).stdout
        self.assertIn("GPU 0  NVIDIA GB10  memory in use not reported", text)

    def test_all_holders_of_a_device_where_newer_functions_fill_larger_entries(self):
        jobs = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
        for job in jobs:
            self.addCleanup(job.wait)
            self.addCleanup(job.kill)
        (self.folder / "nvml").write_text(f"device {80 * GIB} {10 * GIB} NVIDIA H100\n" + "".join(f"holder {job.pid} {i + 1}\n" for i, job in enumerate(jobs)))
        listing = json.loads(subprocess.run([HBMSCOPE, "ps", "--json"], capture_output=True, text=True, env=self.environment, check=True).stdout)
        held = {job["pid"]: job["devices"] for job in listing["jobs"]}
        self.assertEqual([held.get(job.pid) for job in jobs], [[{"device": 0, "bytes": i + 1}] for i in range(3)])

    def test_cupti_knows_the_devices_too(self):
        report = self.record(*((f"CUDA_VISIBLE_DEVICES={i}", 10 + i) for i in range(2)), options=("--backend", "cupti"))
        self.assertEqual(self.by_device(report), {f"GPU 0 ({uuid(i)[:12]})": 10 + i for i in range(2)})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
