#!/usr/bin/env python3
"""hbmscope run records a program on the emulated device: what is in use in the recording is what the driver has handed out.

    run_test.py HBMSCOPE EMULATED
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20
# Blocks, a pool, and physical memory under reserved addresses; some of each is freed. Prints what the driver has left.
JOB = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
u64 = ctypes.c_uint64
def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    assert result == 0, (name, result)
context, block, free, total = u64(), u64(), u64(), u64()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
blocks = []
for mib in (2, 64, 100):
    call("cuMemAlloc_v2", ctypes.byref(block), u64(mib << 20))
    blocks.append(u64(block.value))
call("cuMemFree_v2", blocks[1])
properties = (ctypes.c_int * 10)(1, 0, 1, 0)
handle, address = u64(), u64()
call("cuMemCreate", ctypes.byref(handle), u64(32 << 20), properties, u64(0))
call("cuMemAddressReserve", ctypes.byref(address), u64(64 << 20), u64(0), u64(0), u64(0))
call("cuMemMap", address, u64(32 << 20), u64(0), handle, u64(0))
call("cuMemRelease", handle)
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print(total.value - free.value - (100 << 20))
"""


def main():
    hbmscope, emulated = sys.argv[1], pathlib.Path(sys.argv[2])
    environment = dict(os.environ)
    environment.update(
        LD_LIBRARY_PATH=str(emulated / "lib"),
        HBMSCOPE_DEVICE_BYTES=str(1 << 30),
        HBMSCOPE_DEVICE_CONTEXT_BYTES=str(100 * MIB),
    )
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "job.hbm"
        command = [hbmscope, "run", "--no-window", "--record", recording, "--", sys.executable, "-c", JOB]
        job = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert job.returncode == 0, job.stderr
        left = int(job.stdout)
        assert left == 134 * MIB, left
        report = subprocess.run([hbmscope, "report", "--json", recording], capture_output=True, text=True, check=True)
        heaps = json.loads(report.stdout)["heaps"]
        in_use = sum(heap["in_use_bytes"] for heap in heaps if not heap["name"].startswith("host"))
        print(f"{left} B left on the device, {in_use} B in the recording")
        assert in_use == left, heaps


if __name__ == "__main__":
    main()
