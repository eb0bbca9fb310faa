#!/usr/bin/env python3
"""hbmscope run on jobs that call an emulated HIP runtime in every way there is: what they did must be what the recording
holds, and the runtime's results and last errors must reach them unchanged.

    hip_test.py HBMSCOPE ENTRIES HIP_FOLDER LINKED_JOB JOB EVERY_REFUSAL CUDA_FOLDER

HIP_FOLDER/bound has a runtime whose calls of itself stay inside, as AMD's do; in HIP_FOLDER/loose they can be
intercepted. CUDA_FOLDER has an emulated CUDA driver in the same way.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import own_children  # noqa: F401 - what a test leaves running is killed
from attaching import MAY_ATTACH, WHY_NOT

HBMSCOPE, ENTRIES, RUNTIMES, LINKED_JOB, JOB, EVERY_REFUSAL, CUDA = sys.argv[1:8]
HERE = Path(__file__).parent
STARTED_IN_PYTHON = "import ctypes as C; hip = C.CDLL('libamdhip64.so.6'); at = C.c_uint64()\n"


def names(*kinds):
    return re.findall(rf"^(?:{'|'.join(kinds)})\((\w+)", Path(ENTRIES).read_text(), re.MULTILINE)


def recorded():
    """The entry points that record something when they succeed."""
    runs = re.findall(r"^RUNS\((\w+)((?:.|\n)*?)\)$(?=\n(?:[A-Z/]|\n))", Path(ENTRIES).read_text(), re.MULTILINE)
    return set(names("TAKES", "GIVES")) | {name for name, row in runs if "report_" in row}


class Hip(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.recording = str(self.folder / "run.hbm")
        self.flights = self.folder / "flights"

    def environment(self, runtime="bound", **variables):
        return dict(os.environ, XDG_RUNTIME_DIR=str(self.folder), LD_LIBRARY_PATH=f"{RUNTIMES}/{runtime}:{CUDA}/bound", **variables)

    def run_it(self, *command, code=0, options=(), **environment):
        whole = [HBMSCOPE, "run", "--no-window", *options, "--flight", str(self.flights), "--record", self.recording, "--", *command]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=300, env=self.environment(**environment))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def run_python(self, script, **more):
        return self.run_it(sys.executable, "-c", STARTED_IN_PYTHON + textwrap.dedent(script), **more)

    def report(self):
        done = subprocess.run([HBMSCOPE, "report", self.recording, "--at", "end", "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def rows(self):
        done = subprocess.run([HBMSCOPE, "export", self.recording, "--to", "csv", "--what", "events"], capture_output=True, text=True, check=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def assert_nothing_was_odd(self):
        done = subprocess.run([HBMSCOPE, "check", self.recording], capture_output=True, text=True, check=True)
        found = [line.split()[0] for line in done.stdout.splitlines()[2:] if line.strip()]
        self.assertEqual(found, ["blocks", "events"], done.stdout)

    def assert_is(self, truth):
        found = self.report()
        self.assertEqual({key: found["events"][key] for key in ("alloc", "free", "driver_refusals", "oom", "lost")},
                         {"alloc": truth["alloc"], "free": truth["free"], "driver_refusals": truth["driver_refusals"], "oom": 0, "lost": 0})
        by_name = {heap["name"]: heap for heap in found["heaps"]}
        for device in range(2):
            heap = by_name[f"GPU {device} memory"]
            self.assertEqual((heap["layer"], heap["device"]), ("physical", device))
            self.assertEqual(heap["in_use_bytes"], truth["in_use_bytes"][device])
            self.assertEqual(heap["live_blocks"], truth["live_blocks"][device])
        self.assert_nothing_was_odd()

    def test_totals_and_last_errors_are_exact_however_the_runtime_is_called(self):
        for runtime in ("bound", "loose"):
            for how in ("linked", "dlsym", "dlvsym", "proc"):
                for version in ("6", "7"):
                    with self.subTest(runtime=runtime, how=how, version=version):
                        job = LINKED_JOB if how == "linked" else JOB
                        done = self.run_it(job, how, "4", "40000", "7", runtime=runtime, HBMSCOPE_DEVICE_BYTES="100000", EMULATED_HIP_VERSION=version)
                        truth = json.loads(done.stdout)
                        self.assertGreater(truth["driver_refusals"], 0)
                        self.assert_is(truth)

    def test_many_threads(self):
        done = self.run_it(LINKED_JOB, "linked", "64", "200000", "3")
        truth, found = json.loads(done.stdout), self.report()
        self.assertEqual((found["events"]["lost"], found["events"]["alloc"], found["events"]["free"]), (0, truth["alloc"], truth["free"]))

    def test_without_an_observer_the_job_does_the_same(self):
        collector = Path(HBMSCOPE).parent / "libhbmscope_collector.so"
        alone, loaded = (subprocess.run([JOB, "dlsym", "1", "20000", "5"], capture_output=True, text=True, check=True,
                                        env=self.environment(HBMSCOPE_DEVICE_BYTES="100000", **more)) for more in ({}, {"LD_PRELOAD": str(collector)}))
        self.assertEqual((loaded.stdout, loaded.stderr), (alone.stdout, ""))

    def test_every_call_that_takes_memory_or_gives_it_back(self):
        for runtime in ("bound", "loose"):
            with self.subTest(runtime=runtime):
                done = self.run_it(sys.executable, str(HERE / "emulated_hip" / "every_call.py"), runtime=runtime)
                truth = json.loads(done.stdout)
                self.assertEqual(set(truth["called"]), recorded())
                found = [row for row in self.rows() if row["kind"] != "counter"]
                for wanted, row in zip(truth["rows"], found):
                    for key, value in wanted.items():
                        self.assertEqual(row[key], hex(value) if key in ("address", "handle") else str(value), f"{key} of {wanted}: {row}")
                self.assertEqual(len(found), len(truth["rows"]))
                self.assert_nothing_was_odd()

    def test_every_entry_point_returns_the_runtimes_error_and_reports_a_refusal(self):
        done = self.run_it(EVERY_REFUSAL)
        called = done.stdout.split()
        self.assertEqual(called, names("TAKES", "GIVES", "REFUSES", "RUNS"))
        self.assertEqual([(row["kind"], row["text"], row["value"]) for row in self.rows()], [("driver_refusal", name, "2") for name in called])

    def test_a_refusal_has_what_was_free_where_that_changes_no_last_error(self):
        for version, is_known in (("6", False), ("7", True)):
            done = self.run_python("""
                assert hip.hipMalloc(C.byref(at), C.c_size_t(600000)) == 0
                free, total = C.c_size_t(), C.c_size_t()
                assert hip.hipMemGetInfo(C.byref(free), C.byref(total)) == 0
                assert hip.hipMalloc(C.byref(at), C.c_size_t(500000)) == 2 and hip.hipPeekAtLastError() == 2
                assert hip.hipFree(C.c_uint64(12345)) == 1 and hip.hipGetLastError() == 1 and hip.hipGetLastError() == 0
                print(free.value)
                """, HBMSCOPE_DEVICE_BYTES="1000000", EMULATED_HIP_VERSION=version)
            [refusal] = [row for row in self.rows() if row["kind"] == "driver_refusal"]
            self.assertEqual(refusal["available_bytes"], done.stdout.strip() if is_known else "")

    def test_an_error_that_waits_to_be_read_is_kept(self):
        self.run_python("""
            assert hip.hipFree(C.c_uint64(12345)) == 1
            assert hip.hipMallocAsync(C.byref(at), C.c_size_t(512), None) == 0
            assert hip.hipFreeAsync(at, None) == 0 and hip.hipDeviceSynchronize() == 0
            stream = C.c_void_p()
            assert hip.hipStreamCreate(C.byref(stream)) == 0 and hip.hipGetLastError() == 1
            """, EMULATED_HIP_VERSION="7")
        self.assertEqual({heap["name"]: heap["device_uuid"] for heap in self.report()["heaps"]}, {"GPU 0 memory": "GPU-68626d0363f70650"})

    def test_devices_have_the_uuids_of_the_runtime(self):
        self.run_python("""
            assert hip.hipSetDevice(1) == 0 and hip.hipMalloc(C.byref(at), C.c_size_t(512)) == 0
            """)
        self.assertEqual({heap["name"]: heap["device_uuid"] for heap in self.report()["heaps"]},
                         {"GPU 1 memory": "GPU-68626d0363f70651"})

    def test_an_out_of_memory_leaves_a_flight_that_names_the_request(self):
        done = self.run_python("""
            assert hip.hipSetDevice(1) == 0
            assert hip.hipMalloc(C.byref(at), C.c_size_t(600000)) == 0
            assert hip.hipMalloc(C.byref(at), C.c_size_t(500000)) == 2
            assert hip.hipGetLastError() == 2
            raise SystemExit(1)
            """, code=1, HBMSCOPE_DEVICE_BYTES="1000000")
        [flight] = list(self.flights.iterdir())
        happened = (flight / "what_happened.txt").read_text()
        self.assertRegex(happened, r"refused 488 KiB of GPU 1 memory for process \d+ \(hipMalloc\)", done.stderr)

    def test_what_a_pool_keeps_is_a_figure_of_its_own(self):
        self.run_python("""
            pool = C.c_void_p()
            assert hip.hipDeviceGetDefaultMemPool(C.byref(pool), 0) == 0
            assert hip.hipMemPoolSetAttribute(pool, 4, C.byref(C.c_uint64(1 << 40))) == 0
            assert hip.hipMallocAsync(C.byref(at), C.c_size_t(64 << 20), None) == 0
            assert hip.hipFreeAsync(at, None) == 0 and hip.hipDeviceSynchronize() == 0
            """)
        last = {row["text"]: int(row["value"]) for row in self.rows() if row["kind"] == "counter"}
        self.assertEqual(last, {f"memory pool 1 {figure} bytes": size for figure, size in (("release threshold", 1 << 40), ("reserved", 64 << 20), ("used", 0))})

    def test_with_cupti_wanted_hips_calls_are_recorded_all_the_same(self):
        done = self.run_python("assert hip.hipMalloc(C.byref(at), C.c_size_t(512)) == 0", options=("--backend", "cupti"))
        self.assertEqual((self.report()["events"]["alloc"], "CUPTI" in done.stderr), (1, False), done.stderr)

    def test_a_child_has_rows_of_its_own(self):
        self.run_python("""
            import os
            assert hip.hipMalloc(C.byref(at), C.c_size_t(512)) == 0
            child = os.fork()
            assert hip.hipMalloc(C.byref(at), C.c_size_t(1024)) == 0 and hip.hipFree(at) == 0
            if child:
                assert os.waitpid(child, 0)[1] == 0
            """)
        events = self.report()["events"]
        self.assertEqual((events["alloc"], events["free"]), (3, 2))

    def test_a_small_stack_is_enough(self):
        self.run_python("""
            import threading
            threading.stack_size(32768)
            def take():
                at = C.c_uint64()
                assert hip.hipMallocAsync(C.byref(at), C.c_size_t(512), None) == 0 and hip.hipFreeAsync(at, None) == 0
            threads = [threading.Thread(target=take) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            """)
        self.assertEqual(self.report()["events"]["alloc"], 8)

    def test_a_process_may_use_both_apis(self):
        self.run_python("""
            cuda = C.CDLL('libcuda.so.1')
            def use_both(size, pool=C.c_void_p()):
                cuda.fake_use_device(0)
                assert hip.hipMalloc(C.byref(at), C.c_size_t(size)) == 0
                assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(size)) == 0
                assert cuda.cuMemAllocAsync(C.byref(at), C.c_size_t(size), None) == 0 and cuda.cuMemFreeAsync(at, None) == 0
                assert hip.hipMallocAsync(C.byref(at), C.c_size_t(size), None) == 0 and hip.hipFreeAsync(at, None) == 0
                assert hip.hipDeviceSynchronize() == 0 and cuda.cuCtxSynchronize() == 0
                assert hip.hipMemPoolCreate(C.byref(pool), (C.c_int * 24)(1, 0, 1, 0)) == 0 and hip.hipMemPoolDestroy(pool) == 0
            for size in (512, 1024):
                use_both(size)
            """)
        self.assertEqual(self.report()["events"]["alloc"], 8)

    @unittest.skipUnless(MAY_ATTACH, WHY_NOT)
    def test_an_attach_says_that_it_comes_too_late(self):
        script = STARTED_IN_PYTHON + "print('begun', flush=True); import time\nwhile True:\n  assert hip.hipMalloc(C.byref(at), C.c_size_t(512)) == 0; time.sleep(0.01)"
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=self.environment()) as job:
            self.assertEqual(job.stdout.readline(), "begun\n")
            done = subprocess.run([HBMSCOPE, "attach", str(job.pid), "--record", self.recording, "--for", "0.5"], capture_output=True, text=True, env=self.environment(), timeout=60)
            self.assertIsNone(job.poll())
            job.kill()
        self.assertIn("CUDA driver calls are not recorded: the job uses HIP, whose calls are recorded only if hbmscope run starts it", done.stderr)
        self.assertEqual(self.report()["events"]["alloc"], 0)

    def test_a_runtime_that_was_unloaded_is_forgotten(self):
        self.run_python("""
            import _ctypes
            for size in (512, 1024):
                other = C.CDLL('libamdhip64.so.6')
                assert other.hipMalloc(C.byref(at), C.c_size_t(size)) == 0 and other.hipFree(at) == 0
                _ctypes.dlclose(other._handle)
            """)
        self.assertEqual(self.report()["events"]["alloc"], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
