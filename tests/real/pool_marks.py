"""Quiet points of a job, for pool_test.py: each is a call that the recording shows, and what the framework reports at
that time.
"""

import ctypes
import json
import os
import threading
import time

_folder = os.environ["POOL_MARKS"]
_file = open(os.path.join(_folder, "marks.jsonl"), "w")
_first_bytes = 5_000_001  # Nothing else asks for pinned memory of such sizes.
count = 0
point = 0  # Of run_points.


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


def run_points(points, kinds, work, figures):
    """Calls work(seed, kept) at each point, in four threads if `kinds` has "threads", and marks figures(all that is kept).

    Returns the function whose figures it marks.
    """
    global point
    lists = [[] for _ in range(4 if "threads" in kinds else 1)]

    def all_figures():
        return figures([one for kept in lists for one in kept])

    for point in range(points):
        if "attached" in kinds and point == points // 2:
            wait_for_attach()
        threads = [threading.Thread(target=work, args=(4 * point + i, kept)) for i, kept in enumerate(lists)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        mark(all_figures)
    return all_figures
