#!/usr/bin/env python3
"""hbmscope run on jobs that call an emulated HIP runtime in every way there is: what they did must be what the recording
holds, and the runtime's results and last errors must reach them unchanged.

    hip_test.py HBMSCOPE ENTRIES HIP_FOLDER LINKED_JOB JOB EVERY_REFUSAL CUDA_FOLDER

HIP_FOLDER/bound has a runtime whose calls of itself stay inside, as AMD's do; in HIP_FOLDER/loose they can be
intercepted. CUDA_FOLDER has an emulated CUDA driver in the same way.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from attaching import MAY_ATTACH, WHY_NOT
from recorded_job import EVERY_CALL, RecordedJobTest

HBMSCOPE, ENTRIES, RUNTIMES, LINKED_JOB, JOB, EVERY_REFUSAL, CUDA = sys.argv[1:8]


class Hip(RecordedJobTest):
    STARTED_IN_PYTHON = "import ctypes as C; hip = C.CDLL('libamdhip64.so.6'); at = C.c_uint64()\n"

    def setUp(self):
        super().setUp()
        self.flights = self.folder / "flights"
        self.OPTIONS = ("--flight", str(self.flights))

    def libraries(self, fake):
        return f"{RUNTIMES}/{fake}:{CUDA}/bound"

    def test_totals_and_last_errors_are_exact_however_the_runtime_is_called(self):
        for runtime in ("bound", "loose"):
            for how in ("linked", "dlsym", "dlvsym", "proc"):
                for version in ("6", "7"):
                    with self.subTest(runtime=runtime, how=how, version=version):
                        job = LINKED_JOB if how == "linked" else JOB
                        done = self.run_it(job, how, "4", "40000", "7", fake=runtime, HBMSCOPE_DEVICE_BYTES="100000", EMULATED_HIP_VERSION=version)
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
                                        env=self.variables(HBMSCOPE_DEVICE_BYTES="100000", **more)) for more in ({}, {"LD_PRELOAD": str(collector)}))
        self.assertEqual((loaded.stdout, loaded.stderr), (alone.stdout, ""))

    def test_every_entry_point_is_recorded_with_its_fields(self):
        for runtime in ("bound", "loose"):
            with self.subTest(runtime=runtime):
                self.assert_every_call_is_recorded(json.loads(self.run_it(sys.executable, EVERY_CALL, "hip", fake=runtime).stdout), ENTRIES)

    def test_every_entry_point_returns_the_runtimes_error_and_reports_a_refusal(self):
        self.assert_refusals(self.run_it(EVERY_REFUSAL).stdout.split(), ENTRIES)

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
        script = "print('begun', flush=True); import time\nwhile True:\n  assert hip.hipMalloc(C.byref(at), C.c_size_t(512)) == 0; time.sleep(0.01)"
        with subprocess.Popen(self.python(script), stdout=subprocess.PIPE, text=True, env=self.variables()) as job:
            self.assertEqual(job.stdout.readline(), "begun\n")
            done = subprocess.run([HBMSCOPE, "attach", str(job.pid), "--record", self.recording, "--for", "0.5"], capture_output=True, text=True, env=self.variables(), timeout=60)
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
