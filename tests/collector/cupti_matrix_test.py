#!/usr/bin/env python3
"""hbmscope run --backend interpose and cupti, with a CUPTI that is free, held by somebody, or not there, of CUDA 12 and
13: what is recorded and what is said.

    cupti_matrix_test.py HBMSCOPE ENTRIES EMULATED_DRIVER FAKE_CUPTI LINKED_JOB JOB EVERY_REFUSAL NEXT_IN_LINE
"""

import json
import shutil
import subprocess
import sys
import unittest

from recorded_job import EVERY_CALL, RecordedJobTest

HBMSCOPE, ENTRIES, FAKES, FAKE_CUPTI, LINKED_JOB, JOB, EVERY_REFUSAL, NEXT_IN_LINE = sys.argv[1:9]
VERSIONS = {"12": "12090", "13.0": "13000", "13.3": "13030"}  # And the driver's.
INTERPOSED = "hbmscope: CUDA driver and HIP calls are recorded by interposition, which leaves CUPTI to the job, with Python and native stacks of at most 64 frames (--stacks)"
BY_CUPTI = "hbmscope: CUDA driver calls are recorded with CUPTI ("
INSTEAD = ", so CUDA driver calls are recorded by interposition"
# Takes and gives memory, and then tries to use CUPTI itself, as a profiler does.
PROFILED_JOB = """
import ctypes as C, os, sys
cuda, at = C.CDLL("libcuda.so.1"), [C.c_uint64() for _ in range(3)]
for block, size in zip(at, (1000, 2000, 3000)):
    assert cuda.cuMemAlloc_v2(C.byref(block), C.c_size_t(size)) == 0
assert cuda.cuMemFree_v2(at[1]) == 0
assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(1 << 50)) == 2
try:
    cupti = C.CDLL(sys.argv[1])
except OSError:
    print("absent")
else:
    class Parameters(C.Structure):
        _fields_ = [("bytes", C.c_size_t), ("name", C.c_char_p), ("old", C.c_char_p), ("old_bytes", C.c_size_t), ("shares", C.c_uint8)]
    callback = C.CFUNCTYPE(None, C.c_void_p, C.c_int, C.c_uint32, C.c_void_p)(lambda *_: None)
    if sys.argv[2] == "13.3":
        print(cupti.cuptiSubscribe_v2(C.byref(C.c_void_p()), callback, None, C.byref(Parameters(40, b"a profiler", None, 0, 1))))
    else:
        print(cupti.cuptiSubscribe(C.byref(C.c_void_p()), callback, None))
    sys.stdout.flush()
    os._exit(0)
"""
# Prints how many callbacks the collector got for work on the device, and for one allocation.
STORM = """
import ctypes as C, sys
cuda, cupti, at, stream = C.CDLL("libcuda.so.1"), C.CDLL(sys.argv[1]), C.c_uint64(), C.c_void_p()
cupti.fake_callbacks_of_listeners.restype = C.c_long
assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(4096)) == 0
assert cuda.cuStreamCreate(C.byref(stream), 1) == 0
copied, before = C.create_string_buffer(64), cupti.fake_callbacks_of_listeners()
assert before > 0
for _ in range(1000):
    cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    assert cuda.cuMemcpyHtoDAsync_v2(at, copied, C.c_size_t(64), stream) == 0
    assert cuda.cuMemcpyDtoH_v2(copied, at, C.c_size_t(64)) == 0
    assert cuda.cuMemsetD8Async(at, 0, C.c_size_t(64), stream) == 0
    assert cuda.cuStreamSynchronize(stream) == 0
after = cupti.fake_callbacks_of_listeners()
assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(4096)) == 0
print([after - before, cupti.fake_callbacks_of_listeners() - after])
"""


def is_cupti_of_machine_there(major):
    return subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL('libcupti.so.{major}')"], stderr=subprocess.DEVNULL).returncode == 0


class Matrix(RecordedJobTest):
    def variables(self, version="12", fake="bound", is_there=True, **more):
        paths = [f"{FAKES}/{fake}"] + ([f"{FAKE_CUPTI}/{version}"] if is_there else [])
        return dict(self.environment, LD_LIBRARY_PATH=":".join(paths), HBMSCOPE_DEVICE_CUDA=VERSIONS[version], **more)

    def run_it(self, *command, back_end="cupti", options=(), **variables):
        done = super().run_it(*command, options=("--backend", back_end, *options), **variables)
        # In one line in either case; the other back end reports nothing.
        said = [line for line in done.stderr.splitlines() if " calls are recorded " in line]
        self.assertEqual(len(said), 1, done.stderr)
        return done.stdout, said[0]

    def rows_without_times(self):
        return [{key: value for key, value in row.items() if not key.endswith("_ns")} for row in self.rows()]

    def assert_profiled_job_is_recorded(self):
        report = self.report()
        self.assertEqual({key: report["events"][key] for key in ("alloc", "free", "driver_refusals", "lost")}, {"alloc": 3, "free": 1, "driver_refusals": 1, "lost": 0})
        self.assertEqual([(heap["name"], heap["in_use_bytes"], heap["peak_in_use_bytes"]) for heap in report["heaps"]], [("GPU 0 memory", 4000, 6000)])

    def assert_same_report(self, command, **more):
        """The same job under both: the same rows, and the same figures."""
        found, rows = {}, {}
        for back_end in ("interpose", "cupti"):
            out, said = self.run_it(*command, back_end=back_end, **more)
            self.assertIn(BY_CUPTI if back_end == "cupti" else INTERPOSED, said)
            heaps = [{key: value for key, value in heap.items() if not key.endswith("_ns")} for heap in self.report()["heaps"]]
            found[back_end] = (out, self.report()["events"], heaps)
            rows[back_end] = self.rows_without_times()
        for row in rows["interpose"]:
            row["available_bytes"] = ""  # Under CUPTI the driver can't be queried.
        self.assertEqual(found["interpose"], found["cupti"])
        self.assertGreater(len(rows["cupti"]), 1000)
        differing = [pair for pair in zip(rows["interpose"], rows["cupti"]) if pair[0] != pair[1]]
        self.assertEqual((differing[:1], len(rows["interpose"])), ([], len(rows["cupti"])))

    def test_free_cupti(self):
        for version in VERSIONS:
            library = f"libcupti.so.{version[:2]}"
            with self.subTest(version=version):
                job = (sys.executable, "-c", PROFILED_JOB, library, version)
                out, said = self.run_it(*job, back_end="interpose", version=version)
                self.assertEqual((out, said), ("0\n", INTERPOSED))
                self.assert_profiled_job_is_recorded()
                out, said = self.run_it(*job, version=version)
                self.assertEqual(said, f"{BY_CUPTI}{FAKE_CUPTI}/{version}/{library})")
                self.assertEqual(out, "0\n" if version == "13.3" else "39\n")  # Since 13.3 there can be several.
                self.assert_profiled_job_is_recorded()

    def test_busy_cupti(self):
        named = {"12": "CUPTI is in use", "13.0": "CUPTI is in use by CUPTI for Kineto", "13.3": "CUPTI is in use by CUPTI for Kineto"}
        for version in VERSIONS:
            with self.subTest(version=version):
                job = (sys.executable, "-c", PROFILED_JOB, f"libcupti.so.{version[:2]}", version)
                out, said = self.run_it(*job, version=version, FAKE_CUPTI_HOLDER="Kineto")
                self.assertEqual((out, said), ("39\n", f"hbmscope: {named[version]}{INSTEAD}"))
                self.assert_profiled_job_is_recorded()
                out, said = self.run_it(*job, back_end="interpose", version=version, FAKE_CUPTI_HOLDER="Kineto")
                self.assertEqual((out, said), ("39\n", INTERPOSED))
                self.assert_profiled_job_is_recorded()
        out, said = self.run_it(*job, version="13.3", FAKE_CUPTI_HOLDER="Kineto", FAKE_CUPTI_HOLDER_SHARES="1")
        self.assertIn(BY_CUPTI, said)
        self.assert_profiled_job_is_recorded()

    def test_absent_cupti(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                major = version[:2]
                job = (sys.executable, "-c", PROFILED_JOB, f"libcupti-of-nobody.so.{major}", version)
                out, said = self.run_it(*job, version=version, is_there=False)
                if is_cupti_of_machine_there(major):  # NVIDIA's own does not accept the fake driver.
                    self.assertRegex(said, r"^hbmscope: CUPTI \(.*\) failed with error \d+.*" + INSTEAD)
                else:
                    self.assertEqual(said, f"hbmscope: no libcupti.so.{major} is loaded, next to the CUDA runtime, in its wheels or on the loader's path{INSTEAD}")
                self.assertEqual(out, "absent\n")
                self.assert_profiled_job_is_recorded()
                out, said = self.run_it(*job, back_end="interpose", version=version, is_there=False)
                self.assertEqual((out, said), ("absent\n", INTERPOSED))
                self.assert_profiled_job_is_recorded()

    def test_same_job_gives_the_same_report(self):
        for version in VERSIONS:
            for fake in ("bound", "loose"):
                for how in ("linked", "dlsym", "proc"):
                    with self.subTest(version=version, fake=fake, how=how):
                        self.assert_same_report((LINKED_JOB if how == "linked" else JOB, how, "1", "6000", "7"), version=version, fake=fake, HBMSCOPE_DEVICE_BYTES="100000")

    def test_a_million_operations_of_eight_threads(self):
        out, said = self.run_it(LINKED_JOB, "linked", "8", "1000000", "1", HBMSCOPE_DEVICE_BYTES="2000000")
        self.assertIn(BY_CUPTI, said)
        self.assert_is(json.loads(out))

    def test_every_entry_point_is_recorded_with_its_fields(self):
        for version in VERSIONS:
            for fake in ("bound", "loose"):
                with self.subTest(version=version, fake=fake):
                    out, said = self.run_it(sys.executable, EVERY_CALL, "cuda", "cupti", version=version, fake=fake)
                    self.assertIn(BY_CUPTI, said)
                    self.assert_every_call_is_recorded(json.loads(out), ENTRIES)

    def test_every_entry_point_reports_a_refusal(self):
        out, said = self.run_it(EVERY_REFUSAL)
        self.assertIn(BY_CUPTI, said)
        self.assert_refusals(out.split(), ENTRIES)

    def test_launches_copies_and_synchronizations_make_no_callback(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                out, said = self.run_it(sys.executable, "-c", STORM, f"libcupti.so.{version[:2]}", version=version)
                self.assertIn(BY_CUPTI, said)
                of_storm, of_block = json.loads(out)
                self.assertEqual((of_storm, of_block), (0, 2))

    def test_an_older_cupti_does_not_know_every_entry_point(self):
        async_id = 598
        out, said = self.run_it(sys.executable, "-c", """if True:
            import ctypes as C
            cuda, at = C.CDLL("libcuda.so.1"), C.c_uint64()
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(100)) == 0
            assert cuda.cuMemAllocAsync(C.byref(at), C.c_size_t(200), None) == 0
        """, FAKE_CUPTI_UNKNOWN_FROM=str(async_id))
        self.assertIn(BY_CUPTI, said)
        self.assertEqual([row["text"] for row in self.rows()], ["cuMemAlloc_v2"])
        out, said = self.run_it(LINKED_JOB, "linked", "1", "1000", "1", FAKE_CUPTI_UNKNOWN_FROM="0")
        self.assertRegex(said, "does not support the driver's calls" + INSTEAD)
        self.assertEqual(self.report()["events"]["alloc"], json.loads(out)["alloc"])

    def test_a_cupti_that_can_not_be_used(self):
        for error, why in ((15, ": it is newer than the driver, or a folder with a stub of the driver is on LD_LIBRARY_PATH"), (35, ": this user has no permission to use it"), (999, "")):
            out, said = self.run_it(LINKED_JOB, "linked", "1", "1000", "1", FAKE_CUPTI_ERROR=str(error))
            self.assertEqual(said, f"hbmscope: CUPTI ({FAKE_CUPTI}/12/libcupti.so.12) failed with error {error}{why}{INSTEAD}")
            self.assertEqual(self.report()["events"]["alloc"], json.loads(out)["alloc"])

    def test_a_cupti_that_ends_itself(self):
        script = """if True:
            import ctypes as C
            cuda = C.CDLL("libcuda.so.1")
            for size in range(1, 21): assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(size)) == 0
        """
        environment = self.variables(FAKE_CUPTI_ENDS_AFTER="10")
        done = subprocess.run([HBMSCOPE, "run", "--no-window", "--backend", "cupti", "--record", self.recording, "--", sys.executable, "-c", script],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("hbmscope: CUPTI has shut down (as the test wants it), so CUDA driver calls are recorded by interposition from now on\n", done.stderr)
        self.assertEqual([int(row["size_bytes"]) for row in self.rows()], list(range(1, 21)))

    def test_a_cupti_that_somebody_ends_is_noticed_at_the_next_call(self):
        script = """if True:
            import ctypes as C
            cuda, blocks = C.CDLL("libcuda.so.1"), [C.c_uint64() for _ in range(12)]
            for size, block in enumerate(blocks): assert cuda.cuMemAlloc_v2(C.byref(block), C.c_size_t(size + 1)) == 0
            for block in blocks: assert cuda.cuMemFree_v2(block) == 0
            assert cuda.cuMemAlloc_v2(C.byref(block), C.c_size_t(1 << 50)) == 2
        """
        for callbacks in (9, 10, 23, 24, 25, 33, 34, 47, 48):  # Two a call: between calls, and within one, of each kind.
            with self.subTest(callbacks=callbacks):
                environment = self.variables(FAKE_CUPTI_ENDED_AFTER=str(callbacks))
                done = subprocess.run([HBMSCOPE, "run", "--no-window", "--backend", "cupti", "--record", self.recording, "--", sys.executable, "-c", script],
                                      capture_output=True, text=True, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count("hbmscope: another tool has shut CUPTI down, so CUDA driver calls are recorded by interposition from now on\n"), 1, done.stderr)
                rows = [(row["kind"], row["size_bytes"]) for row in self.rows()]
                sizes = [str(size) for size in range(1, 13)]
                self.assertEqual(rows[:24], [("alloc", size) for size in sizes] + [("free", size) for size in sizes])
                self.assertEqual([row[0] for row in rows[24:]], ["driver_refusal"])

    def test_the_holder_is_guessed_where_it_has_no_name(self):
        nsys = self.folder / "libToolsInjection64.so"
        shutil.copy(NEXT_IN_LINE, nsys)
        out, said = self.run_it(LINKED_JOB, "linked", "1", "1000", "1", FAKE_CUPTI_HOLDER="nsys", LD_PRELOAD=str(nsys))
        self.assertEqual(said, f"hbmscope: CUPTI is in use, it seems by Nsight Systems (libToolsInjection64.so is loaded){INSTEAD}")

    def test_the_jobs_own_library_is_taken_before_another(self):
        # The driver is of CUDA 13, and so is what the loader has; the job's libraries are of 12, from wheels or with a runtime.
        places = {
            "venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12": "venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12",
            "toolkit/lib64/libcudart.so.12": "toolkit/lib64/libcupti.so.12",
            "older/lib64/libcudart.so.12": "older/lib64/../extras/CUPTI/lib64/libcupti.so.12",
            "new/lib/python3.11/site-packages/nvidia/cu13/lib/libcublas.so.13": "new/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13",
            "loaded/libcupti.so.12": "loaded/libcupti.so.12",
        }
        for loaded, wanted in places.items():
            with self.subTest(loaded=loaded):
                loaded, wanted = self.folder / loaded, self.folder / wanted
                for path in (loaded, wanted):
                    path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(NEXT_IN_LINE, loaded)
                version = "13.0" if wanted.name.endswith("13") else "12"
                shutil.copy(f"{FAKE_CUPTI}/{version}/{wanted.name}", wanted)
                script = f"""if True:
                    import ctypes as C
                    C.CDLL({str(loaded)!r})
                    assert C.CDLL("libcuda.so.1").cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(100)) == 0
                """
                out, said = self.run_it(sys.executable, "-c", script, version="13.3")
                self.assertEqual(said, f"{BY_CUPTI}{wanted})")

    def test_children_have_their_own(self):
        script = """if True:
            import ctypes as C, os
            cuda = C.CDLL("libcuda.so.1")
            def take(size): assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(size)) == 0
            child = os.fork()
            take(1000 if child == 0 else 10)
            if child == 0: os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        """
        environment = self.variables()
        done = subprocess.run([HBMSCOPE, "run", "--no-window", "--backend", "cupti", "--record", self.recording, "--", sys.executable, "-c", script],
                              capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stderr.count(BY_CUPTI)), (0, 2), done.stderr)
        self.assertEqual(sorted(heap["in_use_bytes"] for heap in self.report()["heaps"]), [10, 1000])

    def test_a_process_that_only_looks_for_the_driver_asks_nothing_of_cupti(self):
        script = """if True:
            import ctypes as C
            cuda, out = C.CDLL("libcuda.so.1"), C.c_void_p()
            assert cuda.cuInit(0) == 0 and cuda.cuGetProcAddress_v2(b"cuMemAlloc", C.byref(out), 12000, C.c_uint64(0), None) == 0
            assert "libcupti" not in open("/proc/self/maps").read()
        """
        environment = self.variables()
        done = subprocess.run([HBMSCOPE, "run", "--no-window", "--backend", "cupti", "--record", self.recording, "--", sys.executable, "-c", script],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("CUPTI", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[9:]])
