#!/usr/bin/env python3
"""hbmscope run on jobs that call the emulated CUDA driver in every way there is: what they did must be what the recording
holds.

    driver_test.py HBMSCOPE ENTRIES FAKE_FOLDER LINKED_JOB JOB EVERY_REFUSAL NEXT_IN_LINE PLUGIN

FAKE_FOLDER/bound has a driver whose calls of itself stay inside, as NVIDIA's do; in FAKE_FOLDER/loose they can be
intercepted.
"""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import unittest
from pathlib import Path

from recorded_job import EVERY_CALL, RecordedJobTest

HBMSCOPE, ENTRIES, FAKES, LINKED_JOB, JOB, EVERY_REFUSAL, NEXT_IN_LINE, PLUGIN = sys.argv[1:9]
GPU_0 = "GPU 0 memory"


class Driver(RecordedJobTest):
    STARTED_IN_PYTHON = "import ctypes as C; cuda = C.CDLL('libcuda.so.1'); at = C.c_uint64()\n"

    def libraries(self, fake):
        return f"{FAKES}/{fake}"

    def wait_for_job(self, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        for _ in range(5000):
            if process.poll() is not None or children.read_text():
                return
            time.sleep(0.001)

    def test_totals_are_exact_however_the_driver_is_called(self):
        for fake in ("bound", "loose"):
            for how in ("linked", "dlsym", "dlvsym", "proc"):
                if (fake, how) == ("loose", "dlvsym"):  # It has no versions to ask for.
                    continue
                with self.subTest(fake=fake, how=how):
                    job = LINKED_JOB if how == "linked" else JOB
                    done = self.run_it(job, how, "4", "60000", "7", fake=fake, HBMSCOPE_DEVICE_BYTES="100000")
                    truth = json.loads(done.stdout)
                    self.assertGreater(truth["driver_refusals"], 0)
                    self.assert_is(truth)

    def test_a_million_operations_of_eight_threads(self):
        done = self.run_it(LINKED_JOB, "linked", "8", "1000000", "1", HBMSCOPE_DEVICE_BYTES="2000000")
        self.assertIn(" (0 lost) saved in ", done.stderr)
        self.assert_is(json.loads(done.stdout))

    def test_a_limit_on_files_does_not_end_a_job_that_calls_the_driver(self):
        script = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); assert cuda.cuInit(0) == 0; print('goes on')"
        script += "; c = C.c_void_p(); cuda.cuDevicePrimaryCtxRetain(C.byref(c), 0); cuda.cuCtxSetCurrent(c); assert cuda.cuMemAlloc_v2(C.byref(at), 512) == 0"
        for limit, is_recorded in ((1 << 30, True), (4 << 20, False)):
            done = self.run_python(script.format(limit))
            self.assertEqual(done.stdout, "goes on\n")
            self.assertEqual("ulimit -f" not in done.stderr and " saved in " in done.stderr, is_recorded, done.stderr)

    def test_a_job_without_free_descriptors_runs_unobserved(self):
        done = self.run_python("""
            import os, resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            held = []
            try:
                while True:
                    held.append(os.dup(0))
            except OSError:
                pass
            assert cuda.cuInit(0) == 0
            c = C.c_void_p()
            assert cuda.cuDevicePrimaryCtxRetain(C.byref(c), 0) == 0 and cuda.cuCtxSetCurrent(c) == 0
            assert cuda.cuMemAlloc_v2(C.byref(at), 512) == 0 and cuda.cuMemAlloc_v2(C.byref(at), 512) == 0
            print('goes on')
        """)
        self.assertEqual(done.stdout, "goes on\n")
        self.assertEqual(done.stderr.count("this process is not observed: "), 1, done.stderr)

    def test_many_threads(self):
        done = self.run_it(LINKED_JOB, "linked", "100", "200000", "3")
        truth, found = json.loads(done.stdout), self.report()
        self.assertEqual(found["events"]["lost"], 0)
        self.assertEqual((found["events"]["alloc"], found["events"]["free"]), (truth["alloc"], truth["free"]))

    def test_a_slow_observer_is_waited_for(self):
        # More events than the rings of two threads hold, while it sleeps.
        process = subprocess.Popen(self.command(LINKED_JOB, "linked", "2", "600000", "5"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.variables())
        self.wait_for_job(process)
        for _ in range(20):
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.01)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        self.assert_is(json.loads(out))

    def test_every_entry_point_is_recorded_with_its_fields(self):
        for fake in ("bound", "loose"):
            with self.subTest(fake=fake):
                self.assert_every_call_is_recorded(json.loads(self.run_it(sys.executable, EVERY_CALL, "cuda", fake=fake).stdout), ENTRIES)

    def test_every_entry_point_returns_the_drivers_error_and_reports_a_refusal(self):
        called = self.run_it(EVERY_REFUSAL).stdout.split()
        self.assert_refusals(called, ENTRIES)
        events = self.report()["events"]
        self.assertEqual((events["driver_refusals"], events["oom"]), (len(called), 0))

    def test_a_refusal_has_what_was_free_on_the_device(self):
        done = self.run_python("""
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(1 << 30)) == 0
            free, total = C.c_size_t(), C.c_size_t()
            assert cuda.cuMemGetInfo_v2(C.byref(free), C.byref(total)) == 0
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(total.value)) == 2
            print(free.value)
            """)
        [refusal] = [row for row in self.rows() if row["kind"] == "driver_refusal"]
        self.assertEqual(refusal["available_bytes"], done.stdout.strip())

    def test_peak_of_blocks_and_handles(self):
        self.run_python("""
            import struct
            on_gpu_0 = struct.pack("iiii", 1, 0, 1, 0) + bytes(80)
            blocks = []
            for size in (1000, 2000, 3000):
                assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(size)) == 0
                blocks.append(at.value)
            handle = C.c_uint64()
            assert cuda.cuMemCreate(C.byref(handle), C.c_size_t(1 << 20), on_gpu_0, C.c_uint64(0)) == 0
            first, second = C.c_uint64(), C.c_uint64()
            for address in (first, second):
                assert cuda.cuMemAddressReserve(C.byref(address), C.c_size_t(1 << 20), C.c_size_t(0), C.c_uint64(0), C.c_uint64(0)) == 0
                assert cuda.cuMemMap(address, C.c_size_t(1 << 20), C.c_size_t(0), handle, C.c_uint64(0)) == 0
            assert cuda.cuMemRelease(handle) == 0
            assert cuda.cuMemFreeAsync(C.c_uint64(blocks[2]), None) == 0
            assert cuda.cuMemUnmap(first, C.c_size_t(1 << 20)) == 0
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(500)) == 0
            assert cuda.cuMemUnmap(second, C.c_size_t(1 << 20)) == 0
            assert cuda.cuMemFree_v2(C.c_uint64(12345)) == 1  # A failed free takes nothing away.
        """)
        heap, events = self.heaps()[GPU_0], self.report()["events"]
        self.assertEqual(heap["peak_in_use_bytes"], 6000 + (1 << 20))
        self.assertEqual(heap["in_use_bytes"], 3500)
        self.assertEqual((events["alloc"], events["free"]), (4, 1))

    def test_host_and_managed_memory_is_no_devices(self):
        self.run_python("""
            host = C.c_void_p()
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(100)) == 0
            assert cuda.cuMemAllocManaged(C.byref(at), C.c_size_t(1 << 30), 1) == 0
            assert cuda.cuMemFree_v2(at) == 0
            assert cuda.cuMemAllocManaged(C.byref(at), C.c_size_t(1 << 20), 1) == 0
            assert cuda.cuMemHostAlloc(C.byref(host), C.c_size_t(4096), 0) == 0
        """)
        heaps = self.heaps()
        self.assertEqual({name: (heap["kind"], heap["in_use_bytes"], heap["peak_in_use_bytes"]) for name, heap in heaps.items()},
                         {GPU_0: ("device", 100, 100), "managed memory": ("managed", 1 << 20, 1 << 30), "pinned host memory": ("host_pinned", 4096, 4096)})

    def test_a_third_party_in_between_finds_who_comes_next(self):
        reported = self.folder / "told"
        done = self.run_it(LINKED_JOB, "linked", "1", "1000", "1", fake="loose", LD_PRELOAD=NEXT_IN_LINE, NEXT_IN_LINE=str(reported))
        self.assert_is(json.loads(done.stdout))
        allocations = [int(line.split()[0]) for line in reported.read_text().splitlines()]
        self.assertEqual(sum(1 for row in self.rows() if row["text"] == "cuMemAlloc_v2"), sum(allocations))
        self.assertGreater(sum(allocations), 0)
        reported.unlink()
        # In Python, through dlsym of the driver itself, nobody is in between; and dlsym(RTLD_NEXT) of other names works.
        self.run_python("import os; os.getppid(); assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(7)) == 0", LD_PRELOAD=NEXT_IN_LINE, NEXT_IN_LINE=str(reported))
        self.assertIn("0 1\n", reported.read_text())
        self.assertEqual(self.heaps()[GPU_0]["in_use_bytes"], 7)

    def test_a_driver_that_is_closed_and_loaded_again(self):
        self.run_it(sys.executable, "-c", textwrap.dedent("""
            import _ctypes, ctypes as C
            for size in (10, 20, 30):
                cuda, at = C.CDLL("libcuda.so.1"), C.c_uint64()
                assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(size)) == 0
                assert cuda.cuMemFree_v2(at) == 0
                _ctypes.dlclose(cuda._handle)
        """))
        self.assertEqual(self.heaps()[GPU_0]["peak_in_use_bytes"], 30)
        self.assertEqual(self.report()["events"]["free"], 3)

    def test_a_driver_that_a_plugin_unloads_or_that_was_queried_for_its_entry_points(self):
        script = """
            import _ctypes, ctypes as C
            for size in (10, 20, 30):
                # Something else between the old driver and the new one.
                kept = [bytearray(50 << 20) for _ in range(3)]
                plugin = C.CDLL(PLUGIN)
                assert plugin.take_and_give(C.c_size_t(size)) == 0
                _ctypes.dlclose(plugin._handle)
                assert "libcuda" not in open("/proc/self/maps").read()
                cuda, at, found = C.CDLL("libcuda.so.1"), C.c_uint64(), C.c_void_p()
                for name, *arguments in (("cuMemAlloc", C.byref(at), C.c_size_t(size)), ("cuMemFree", at)):
                    assert cuda.cuGetProcAddress_v2(name.encode(), C.byref(found), 12000, C.c_uint64(0), None) == 0
                    assert C.CFUNCTYPE(C.c_int)(found.value)(*arguments) == 0
                _ctypes.dlclose(cuda._handle)
        """
        for fake in ("bound", "loose"):
            with self.subTest(fake=fake):
                self.run_it(sys.executable, "-c", textwrap.dedent(script).replace("PLUGIN", repr(PLUGIN)), fake=fake)
                self.assertEqual(self.heaps()[GPU_0]["peak_in_use_bytes"], 30)
                events = self.report()["events"]
                self.assertEqual((events["alloc"], events["free"]), (6, 6))

    def test_a_driver_whose_answers_are_functions_that_it_does_not_export(self):
        for fake in ("bound", "loose"):
            for version in (12000, 13020):
                with self.subTest(fake=fake, version=version):
                    done = self.run_it(JOB, "proc", "4", "20000", "7", fake=fake, EMULATED_DRIVER_UNNAMED="1", HBMSCOPE_DEVICE_BYTES="100000", JOB_CUDA_VERSION=str(version))
                    self.assert_is(json.loads(done.stdout))

    def test_of_unexported_functions_the_requested_one_is_recorded(self):
        self.run_python("""
            found = C.c_void_p()
            for symbol, arguments in (("cuMemcpy", (at, at, C.c_size_t(5))), ("cuMemAllocHost", (C.byref(C.c_void_p()), C.c_size_t(7)))):
                assert cuda.cuGetProcAddress_v2(symbol.encode(), C.byref(found), 12000, C.c_uint64(2), None) == 0
                for name in (symbol + "_ptds", symbol + "_v2"): cuda.fake_fail(name.encode(), 2, 1)
                assert C.CFUNCTYPE(C.c_int)(found.value)(*arguments) == 2
        """, EMULATED_DRIVER_UNNAMED="1")
        self.assertEqual([row["text"] for row in self.rows() if row["kind"] == "driver_refusal"], ["cuMemcpy_ptds", "cuMemAllocHost_v2"])

    def test_children_are_followed_with_and_without_exec(self):
        script = """
            import os
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(100)) == 0
            child = os.fork()
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(1000 if child == 0 else 10)) == 0
            if child == 0: os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        """
        self.run_python(script)
        self.assertEqual(sorted(heap["in_use_bytes"] for heap in self.report()["heaps"]), [110, 1000])
        self.run_it("sh", "-c", f"{LINKED_JOB} linked 1 500 1 >/dev/null; exec {LINKED_JOB} linked 1 500 2")
        self.assertEqual(len({heap["stream"] for heap in self.report()["heaps"]}), 2)

    def test_the_processes_of_a_launcher_are_its_ranks(self):
        self.run_it("sh", "-c", f"for i in 2 0 1; do SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=$i {LINKED_JOB} linked 1 500 $i & done >/dev/null; wait; RANK=10 SLURM_PROCID=3 {LINKED_JOB} linked 1 500 7 >/dev/null")
        self.assertEqual({heap["rank"] for heap in self.report()["heaps"]}, {0, 1, 2, 10})
        text = subprocess.run([HBMSCOPE, "report", self.recording], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r"^GPU 0 memory \(rank (\d+)\) .* [\d,]+$", text, re.MULTILINE)[-4:], ["0", "1", "2", "10"])

    def test_what_a_process_was_is_known_when_it_is_over_before_the_observer_looks(self):
        script = """
            import os, signal
            os.kill(os.getppid(), signal.SIGSTOP)
            print(os.getpid(), flush=True)
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(100)) == 0
            os.execv("/bin/true", ["true"])
        """
        command = self.command(*self.python(script, "--lr", "0.1"))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.variables(RANK="3", CUDA_VISIBLE_DEVICES="0", XLA_FLAGS="", HOME="/secret"))
        job = process.stdout.readline().strip()
        for _ in range(3000):
            if "State:\tZ" in Path(f"/proc/{job}/status").read_text():
                break
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGCONT)
        self.assertEqual(process.communicate(timeout=300)[1].count("(0 lost)"), 1)
        report = self.report()
        self.assertEqual([(heap["rank"], heap["in_use_bytes"]) for heap in report["heaps"]], [(3, 100)])
        facts = {fact["key"]: fact["values"] for fact in report["job"]}
        self.assertTrue(facts["command"][0].startswith(f"{sys.executable} -c import ctypes"), facts)
        self.assertTrue(facts["command"][0].endswith(" --lr 0.1"), facts)
        self.assertEqual((facts["process"], facts["rank"], facts["variable.CUDA_VISIBLE_DEVICES"], facts["variable.XLA_FLAGS"]), ([job], ["3"], ["0"], [""]))
        self.assertNotIn("/secret", str(facts))

    def test_children_are_not_followed_if_requested(self):
        self.run_python("""
            import os, subprocess, sys
            if os.fork() == 0: os._exit(cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(7)))
            assert cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(100)) == 0
            again = "import ctypes as C; C.CDLL('libcuda.so.1').cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(5))"
            left_alone = "; import os; assert not {'LD_PRELOAD', 'HBMSCOPE_OBSERVER', 'HBMSCOPE_NO_FOLLOW'} & set(os.environ)"
            subprocess.run([sys.executable, "-c", again + left_alone], check=True)
            if os.fork() == 0: os._exit(cuda.cuMemAlloc_v2(C.byref(at), C.c_size_t(6)))
            if os.fork() == 0: os.execv(sys.executable, [sys.executable, "-c", again + left_alone])
        """, options=("--no-follow",))
        self.assertEqual([heap["in_use_bytes"] for heap in self.report()["heaps"]], [100])
        # After exec it is still the process that was started, for example by a launcher script.
        self.run_it("sh", "-c", f"{LINKED_JOB} linked 1 500 1 >/dev/null; exec {LINKED_JOB} linked 1 500 2", options=("--no-follow",))
        self.assertEqual(len({heap["stream"] for heap in self.report()["heaps"]}), 1)

    def test_a_job_without_a_driver_is_left_alone(self):
        done = self.run_it(sys.executable, "-c", textwrap.dedent("""
            import ctypes, os
            everything = ctypes.CDLL(None)
            assert not hasattr(everything, "cuMemAlloc_v2") and not hasattr(everything, "cuInit")
            assert hasattr(everything, "malloc")
            assert "hbmscope" not in open("/proc/self/maps").read().replace("libhbmscope_collector.so", "").replace(os.environ["HBMSCOPE_OBSERVER"], "")
            raise SystemExit(5)
        """), code=5, fake="none")
        self.assertIn("no process of this command allocated device memory", done.stderr)

    def test_threads_that_end_and_a_job_that_is_killed(self):
        process = subprocess.Popen(self.command(*self.python("""
            import os, signal, threading
            def take():
                for _ in range(10): assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(100)) == 0
            for _ in range(200):
                thread = threading.Thread(target=take)
                thread.start()
                thread.join()
            os.kill(os.getpid(), signal.SIGKILL)
        """)), stderr=subprocess.PIPE, text=True, env=self.variables())
        self.assertEqual(process.wait(), 128 + signal.SIGKILL, process.stderr.read())
        process.stderr.close()
        self.assertEqual(self.heaps()[GPU_0]["in_use_bytes"], 200 * 10 * 100)

    def test_a_slow_free_and_whoever_gets_the_address_next(self):
        # The driver gives the address out again before the call that freed it has returned.
        done = self.run_it(LINKED_JOB, "linked", "4", "2000", "11", EMULATED_DRIVER_SLOW_US="300")
        self.assert_is(json.loads(done.stdout))

    def test_no_observer_lives_and_the_job_goes_on(self):
        process = subprocess.Popen(self.command(LINKED_JOB, "linked", "2", "3000000", "1"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env=self.variables())
        self.wait_for_job(process)
        time.sleep(0.05)
        process.kill()  # The observer; the job has the other end of the pipe.
        self.assertIn('"alloc"', process.stdout.read())
        process.stdout.close()
        process.wait()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[9:]])
