#!/usr/bin/env python3
"""What it costs a job that each call of its framework's pool is recorded, beside the same calls without hbmscope.

    tests/bench/pool_cost.py HBMSCOPE POOL_JOB PLUGIN [PAIRS]

The allocator is a stand-in for XLA's with the same table of functions (tests/collector/pools). A pair is an allocation
and a free, in nanoseconds: the median of rounds of 1,000.
"""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time


def python_job(plugin, depth, pairs):
    """Pairs from a Python function that is `depth` calls deep."""
    library = ctypes.CDLL(plugin)
    library.make_pool.restype = library.allocate_in.restype = ctypes.c_void_p
    pool = ctypes.c_void_p(library.make_pool(b"GPU_0_bfc", ctypes.c_size_t(64 << 20), 1))
    ctypes.CDLL("libm.so.6")
    allocate, free, size = library.allocate_in, library.free_in, ctypes.c_size_t(1024)

    def measure():
        begin = time.perf_counter_ns()
        for _ in range(1000):
            free(pool, ctypes.c_void_p(allocate(pool, size)))
        return (time.perf_counter_ns() - begin) / 1000

    def go(left):
        return measure() if left == 0 else go(left - 1)

    costs = []
    for _ in range(pairs // 1000):
        costs.append(go(depth))
        time.sleep(0.001)
    print(statistics.median(costs))


def run(command, hbmscope=None, stacks="none"):
    with tempfile.TemporaryDirectory() as folder:
        observed = [hbmscope, "run", "--no-window", "--no-flight", "--stacks", stacks, "--record", os.path.join(folder, "job.hbm"), "--"]
        done = subprocess.run([*(observed if hbmscope else []), *command], capture_output=True, text=True, check=True)
        return float(done.stdout.split()[-1])


def main():
    hbmscope, job, plugin, *more = sys.argv[1:]
    if hbmscope == "--python":
        return python_job(job, int(plugin), int(more[0]))
    pairs = more[0] if more else "200000"
    in_c = [job, "cost", plugin, pairs]
    in_python = [sys.executable, __file__, "--python", plugin, "20", str(int(pairs) // 10)]
    rows = [
        ("from C, without stacks", in_c, "none"),
        ("from C, with native stacks", in_c, "native"),
        ("from Python, 20 calls deep, without stacks", in_python, "none"),
        ("from Python, 20 calls deep, with Python stacks", in_python, "python"),
    ]
    print(f"{'pairs of allocation and free':48} {'bare':>9} {'recorded':>9} {'a call':>9}")
    for name, command, stacks in rows:
        bare, recorded = run(command), run(command, hbmscope, stacks)
        print(f"{name:48} {bare:6.0f} ns {recorded:6.0f} ns {(recorded - bare) / 2:+6.0f} ns")


if __name__ == "__main__":
    main()
