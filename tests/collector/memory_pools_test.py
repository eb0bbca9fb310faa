#!/usr/bin/env python3
"""The driver's memory pools (cuMemAllocAsync): what they keep after blocks were freed, with both back ends.

    memory_pools_test.py HBMSCOPE EMULATED_DRIVER FAKE_CUPTI
"""

import json
import subprocess
import sys
import textwrap
import unittest

from own_folder import OwnFolderTest

HBMSCOPE, CUDA, CUPTI = sys.argv[1:4]
MIB, GIB = 1 << 20, 1 << 30
MOST = 2**64 - 1
# What jobs call. Blocks are freed in the order in which they were allocated.
PRELUDE = """
import ctypes as C, json, sys, threading
cuda = C.CDLL("libcuda.so.1")
GIB, MOST = 1 << 30, 2**64 - 1
def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    assert result == 0, (name, result)
def pool_of(device=0):
    pool = C.c_void_p()
    call("cuDeviceGetDefaultMemPool", C.byref(pool), device)
    return pool
def keep(pool, size):
    call("cuMemPoolSetAttribute", pool, 4, C.byref(C.c_uint64(size)))
def new_pool(device):
    pool = C.c_void_p()
    call("cuMemPoolCreate", C.byref(pool), (C.c_int * 24)(1, 0, 1, device))
    return pool
def take(size, pool=None, stream=None):
    at = C.c_uint64()
    if pool is None:
        call("cuMemAllocAsync", C.byref(at), C.c_size_t(size), stream)
    else:
        call("cuMemAllocFromPoolAsync", C.byref(at), C.c_size_t(size), pool, stream)
    return at
def free(*blocks):
    for at in blocks:
        call("cuMemFreeAsync", at, None)
def wait():
    call("cuStreamSynchronize", None)
"""


class MemoryPools(OwnFolderTest):
    def run_job(self, job, back_end):
        environment = dict(self.environment, LD_LIBRARY_PATH=f"{CUDA}/bound:{CUPTI}/12", HBMSCOPE_DEVICE_COUNT="2", HBMSCOPE_DEVICE_CUDA="12090")
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        done = subprocess.run([HBMSCOPE, "run", "--no-window", "--backend", back_end, "--record", self.recording, "--", sys.executable, "-c", PRELUDE + textwrap.dedent(job)],
                              capture_output=True, text=True, env=environment, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def report(self, *options):
        return subprocess.run([HBMSCOPE, "report", self.recording, *options], capture_output=True, text=True, check=True).stdout

    def pools(self, *options):
        """By the ordinal of the device: reserved, used and kept, in GiB."""
        heaps = json.loads(self.report("--json", *options))["heaps"]
        return {heap["device"]: tuple(heap["driver_pools"][f"{figure}_bytes"] / GIB for figure in ("reserved", "used", "kept")) for heap in heaps if heap["driver_pools"]}

    def check(self, job, expected):
        for back_end in ("interpose", "cupti"):
            with self.subTest(back_end=back_end):
                self.run_job(job, back_end)
                self.assertEqual(self.pools(), expected)

    def test_what_was_freed_stays_with_a_threshold_that_keeps_all(self):
        self.check("keep(pool_of(), MOST); blocks = [take(GIB) for _ in range(60)]; free(*blocks); wait(); call('cuMemAlloc_v2', C.byref(C.c_uint64()), C.c_size_t(1 << 20))",
                   {0: (60, 0, 60)})
        text = self.report()
        self.assertIn("Recording: 1.00 MiB in 1 block on 1 device.", text)
        self.assertIn("GPU 0 memory: 60.0 GiB kept by the driver's memory pools", text)
        [heap] = json.loads(self.report("--json"))["heaps"]
        self.assertEqual(heap["in_use_bytes"], MIB, "what is kept is not in use")
        self.assertIsNone(heap["free_bytes"], "and not free")

    def test_without_a_threshold_it_goes_back_at_the_next_synchronization(self):
        self.check("free(take(4 * GIB)); take(GIB)", {0: (4, 1, 3)})
        for how in ("wait()", "call('cuCtxSynchronize')", "event = C.c_void_p(); call('cuEventCreate', C.byref(event), 0); call('cuEventSynchronize', event)"):
            self.check(f"free(take(4 * GIB)); {how}", {0: (0, 0, 0)})
        self.assertNotIn("kept by", self.report())

    def test_up_to_the_threshold_it_stays(self):
        self.check("keep(pool_of(), 2 * GIB); blocks = [take(GIB) for _ in range(6)]; free(*blocks); wait()", {0: (2, 0, 2)})

    def test_trimming(self):
        self.check("keep(pool_of(), MOST); blocks = [take(GIB) for _ in range(6)]; free(*blocks[1:]); call('cuMemPoolTrimTo', pool_of(), C.c_size_t(3 * GIB))", {0: (3, 1, 2)})

    def test_every_pool_counts_on_its_own_device(self):
        self.check("""
            own, other = new_pool(0), new_pool(1)
            for pool in (own, other, pool_of()):
                keep(pool, MOST)
            free(take(GIB), take(2 * GIB, own), take(4 * GIB, other))
            free(take(4 * GIB, other))
            take(GIB, other)
            """, {0: (3, 0, 3), 1: (4, 1, 3)})

    def test_the_pool_that_the_program_has_made_current(self):
        self.check("own = new_pool(0); keep(own, MOST); call('cuDeviceSetMemPool', 0, own); free(take(5 * GIB)); wait()", {0: (5, 0, 5)})

    def test_a_destroyed_pool_keeps_nothing(self):
        self.check("own = new_pool(0); keep(own, MOST); free(take(5 * GIB, own)); wait(); call('cuMemPoolDestroy', own)", {0: (0, 0, 0)})

    def test_a_job_without_pools_has_no_figures(self):
        self.check("call('cuMemAlloc_v2', C.byref(C.c_uint64()), C.c_size_t(1 << 20)); wait()", {})
        self.assertFalse(json.loads(self.report("--json"))["counters"])

    def test_at_an_earlier_time(self):
        self.run_job("keep(pool_of(), MOST); one = take(GIB); two = take(GIB); free(one); free(two)", "interpose")
        last = max(int(line.split(",")[1]) for line in self.export().splitlines()[1:])
        seen = [self.pools("--at", f"#{event}").get(0) for event in range(last + 2)]
        self.assertEqual([figures for i, figures in enumerate(seen) if figures and figures != seen[i - 1]][-1], (2, 0, 2))
        self.assertIn((2, 2, 0), seen)
        self.assertIn((2, 1, 1), seen)

    def export(self):
        return subprocess.run([HBMSCOPE, "export", self.recording, "--to", "csv", "--what", "events"], capture_output=True, text=True, check=True).stdout

    def test_the_last_figures_are_right_whatever_threads_do(self):
        job = """
            keep(pool_of(), MOST)
            def work(seed):
                left = []
                for i in range(400):
                    left.append(take((seed * 7 + i % 13 + 1) << 20))
                    if i % 3 == 2:
                        free(left.pop(0))
                free(*left[20:])
            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            figures = []
            for attribute in (5, 7):
                value = C.c_uint64()
                call("cuMemPoolGetAttribute", pool_of(), attribute, C.byref(value))
                figures.append(value.value)
            print(json.dumps(figures))
            """
        for back_end in ("interpose", "cupti"):
            with self.subTest(back_end=back_end):
                reserved, used = json.loads(self.run_job(job, back_end))
                self.assertGreater(used, 0)
                self.assertEqual(self.pools(), {0: (reserved / GIB, used / GIB, (reserved - used) / GIB)})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
