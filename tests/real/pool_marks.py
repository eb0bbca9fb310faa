"""Quiet points of a job, for pool_test.py: each is a call that the recording shows, and what the framework reports at
that time.
"""

import ctypes
import json
import os
import time

_folder = os.environ["POOL_MARKS"]
_file = open(os.path.join(_folder, "marks.jsonl"), "w")
_first_bytes = 5_000_001  # Nothing else asks for pinned memory of such sizes.
count = 0


def signal():
    """A driver call. A job that is attached to replaces it, because the driver's calls may not be seen there."""
    cuda = ctypes.CDLL("libcuda.so.1")
    pointer = ctypes.c_void_p()
    assert cuda.cuMemHostAlloc(ctypes.byref(pointer), ctypes.c_size_t(_first_bytes + count), 0) == 0
    cuda.cuMemFreeHost(pointer)


def mark(figures):
    """Calls figures() until it says the same before and after the mark: JAX frees some blocks on threads of its own."""
    global count
    for _ in range(100):
        before = figures()
        signal()
        count += 1
        if figures() == before:
            _file.write(json.dumps({"mark": _first_bytes + count - 1, "signal": count, **before}) + "\n")
            _file.flush()
            return
    raise AssertionError("the job is never quiet")


def wait_for_attach():
    global count
    count = 0
    _file.seek(0)
    _file.truncate()
    open(os.path.join(_folder, "ready"), "w").close()
    while not os.path.exists(os.path.join(_folder, "go")):
        time.sleep(0.01)
