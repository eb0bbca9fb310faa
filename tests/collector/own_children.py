"""Nothing that a test starts outlives it: what is left at its end is killed, however it ends short of kill -9.

ctest reads a test's output to its end, which a program left behind holds open: one forgotten after an exception makes a
failure of a second one of an hour. To import it is enough.
"""

import atexit
import ctypes
import os
import signal
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # prctl(2), Linux 3.4


def children(pid):
    """Of every thread of it; none of one that has ended."""
    try:
        threads = [thread / "children" for thread in Path(f"/proc/{pid}/task").iterdir()]
        return [int(child) for file in threads for child in file.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def kill_what_is_left():
    while left := children(os.getpid()):
        for child in left:
            os.kill(child, signal.SIGKILL)
        for child in left:  # When it ends, its children become ours, and are next.
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass


ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
atexit.register(kill_what_is_left)
