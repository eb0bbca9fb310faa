"""A job that runs out of memory, for advice_test.py. Prints how many arrays it was given, and whether that is all.

    advised_job.py jax|torch SEED KIND [SHARE]

KIND "grows": arrays of random sizes until SHARE of the device is in use, with some freed on the way.
KIND "neighbour": the same, while another process has 300 MiB of the device.
KIND "holes": many arrays, every second one freed, then larger ones that fit in no hole.
"""

import os
import random
import subprocess
import sys
import time

framework, seed, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
share = float(sys.argv[4]) if len(sys.argv) > 4 else 0.8
choose = random.Random(seed)
MIB = 1 << 20

if framework == "jax":
    os.environ["JAX_PLATFORMS"] = "cuda"
    import jax
    import numpy as np

    def put(size):
        return jax.device_put(np.zeros(size, np.uint8)).block_until_ready()

    def drop(array):
        array.delete()

    def wait_for_drops():
        """JAX frees an array on another thread, sometimes after the next request; a run is then not like the one before."""
        in_use = lambda: (jax.local_devices()[0].memory_stats() or {}).get("bytes_in_use")  # `platform` counts nothing.
        seen = [in_use()]
        while len(seen) < 5 or len(set(seen[-5:])) > 1:
            time.sleep(0.02)
            seen.append(in_use())
else:
    import torch

    def put(size):
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    def drop(array):
        pass  # The last reference goes.

    def wait_for_drops():
        pass


def take(size):
    global served
    array = put(size)
    served += 1
    return array


def grow(device):
    kept = {}
    number = 0
    while sum(kept.values()) < share * device:
        number += 1
        size = choose.choice((1, 3, 20, 60, 90)) * MIB + choose.randrange(MIB)
        kept[number] = size
        arrays[number] = take(size)
        if number > 12 and choose.random() < 0.3:
            gone = choose.choice(sorted(kept))
            drop(arrays.pop(gone))
            del kept[gone]


def leave_holes(device):
    sizes = [choose.randrange(24, 40) * MIB for _ in range(int(share * device) // (33 * MIB))]
    for number, size in enumerate(sizes):
        arrays[number] = take(size)
    for number in range(0, len(sizes), 2):
        drop(arrays.pop(number))
    wait_for_drops()
    for number in range(len(sizes) // 8):
        arrays[-1 - number] = take(choose.randrange(60, 90) * MIB)


NEIGHBOUR = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(300 << 20)) == 0
print("there", flush=True)
sys.stdin.read()
"""
if kind == "neighbour":
    neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert neighbour.stdout.readline() == "there\n"
arrays = {}
served = 0
try:
    (leave_holes if kind == "holes" else grow)(int(os.environ["ADVISED_DEVICE_MIB"]) * MIB)
    print("all", served, flush=True)
except Exception as error:
    assert "RESOURCE_EXHAUSTED" in str(error) or "out of memory" in str(error), error
    print("refused", served, flush=True)
if kind == "neighbour":
    neighbour.stdin.close()
    neighbour.wait()
