"""Quiet points of a job, for pool_test.py: each is a driver call that the recording shows, and what the framework
reports at that time.
"""

import ctypes
import json
import os

_cuda = ctypes.CDLL("libcuda.so.1")
_file = open(os.environ["POOL_MARKS"], "w")
_first_bytes = 5_000_001  # Nothing else asks for pinned memory of such sizes.
count = 0


def mark(figures):
    """Calls figures() until it says the same before and after the mark: JAX frees some blocks on threads of its own."""
    global count
    for _ in range(100):
        before = figures()
        pointer = ctypes.c_void_p()
        bytes_of_mark = _first_bytes + count
        assert _cuda.cuMemHostAlloc(ctypes.byref(pointer), ctypes.c_size_t(bytes_of_mark), 0) == 0
        count += 1
        _cuda.cuMemFreeHost(pointer)
        if figures() == before:
            _file.write(json.dumps({"mark": bytes_of_mark, **before}) + "\n")
            _file.flush()
            return
    raise AssertionError("the job is never quiet")
