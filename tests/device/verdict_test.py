#!/usr/bin/env python3
"""What the verdict of a dry run says besides its figures: with programs that call the driver themselves, and with stand-ins for
a framework's libraries.

    verdict_test.py HBMSCOPE POOLS      POOLS: a folder with libc10.so and libc10_cuda.so (tests/collector/pools)
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

HBMSCOPE, POOLS = (os.path.abspath(word) for word in sys.argv[1:3])
del sys.argv[1:3]
MIB = 1 << 20

DRIVER = """
import ctypes, os, sys, threading
cuda = ctypes.CDLL("libcuda.so.1")
u64 = ctypes.c_uint64
def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    assert result == 0, (name, result)
def start():
    context = u64()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
def take(size):
    block = u64()
    call("cuMemAlloc_v2", ctypes.byref(block), u64(size))
    return block
start()
"""

# What the report of a process asks of PyTorch.
TORCH = """
class cuda:
    peak = {"allocated_bytes.all.peak": 1 << 20, "reserved_bytes.all.peak": 2 << 20}
    is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    memory_stats = staticmethod(lambda device: cuda.peak)
"""


class Verdict(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_it(self, text, *words, **files):
        (self.path / "job.py").write_text(DRIVER + textwrap.dedent(text))
        for name, content in files.items():
            (self.path / f"{name}.py").write_text(textwrap.dedent(content))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("DISPLAY", None)
        command = [HBMSCOPE, "run", "--no-flight", "--emulate", "h100", "--record", "job.hbm", *words, "--", sys.executable, "job.py"]
        done = subprocess.run(command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def verdict(self, text, *words, **files):
        return json.loads(self.run_it(text, "--json", *words, **files))

    def line_of(self, sign):
        """The line of the job that contains this text, from 1."""
        [line] = [number for number, line in enumerate((self.path / "job.py").read_text().splitlines(), 1) if sign in line]
        return line

    def test_the_peak_of_a_pool_is_the_recorded_one_where_the_framework_says_less(self):
        job = f"""
            import torch
            take(1 << 20)
            ctypes.CDLL("{POOLS}/libc10.so", ctypes.RTLD_GLOBAL)
            pool = ctypes.CDLL("{POOLS}/libc10_cuda.so")
            pool.torch_allocate.restype = ctypes.c_void_p
            block = pool.torch_allocate(u64(300 << 20))
            pool.torch_free(ctypes.c_void_p(block))
            pool.torch_allocate(u64(100 << 20))
        """
        [device] = self.verdict(job, torch=TORCH)["devices"]
        [use] = device["frameworks"]
        self.assertEqual((use["framework"], use["peak_in_use_bytes"]), ("torch", 300 * MIB))
        [device] = self.verdict(job, torch=TORCH.replace("1 << 20", "700 << 20"))["devices"]
        self.assertEqual(device["frameworks"][0]["peak_in_use_bytes"], 700 * MIB, "what the recording doesn't have, the framework says")


if __name__ == "__main__":
    unittest.main()
