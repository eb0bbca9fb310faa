"""What the emulated driver has handed out in this process."""

import ctypes
import sys

_used = ctypes.CDLL("libcuda.so.1").hbmscope_device_used_bytes
_used.restype = ctypes.c_longlong


def used_bytes(device=0):
    """Bytes in use on a device, contexts included."""
    return _used(device)


class Checks:
    """Counts comparisons, prints those that fail, and ends the process with a summary."""

    def __init__(self):
        self.count = self.failed = 0

    def equal(self, what, ours, theirs):
        self.count += 1
        if ours != theirs:
            self.failed += 1
            print(f"{what}: the driver has {ours} B, the framework reports {theirs} B")

    def true(self, what, condition):
        self.count += 1
        if not condition:
            self.failed += 1
            print(f"{what}: wrong")

    def finish(self):
        print(f"{self.count} checks, {self.failed} failed")
        raise SystemExit(1 if self.failed else 0)


def run_programs(programs, check_account):
    """Runs those that the command line names, or all; prints a line for each: "passed" or the error."""
    failed = 0
    for program in programs:
        if sys.argv[1:] and program.__name__ not in sys.argv[1:]:
            continue
        try:
            program()
            check_account()
            print(f"{program.__name__}: passed", flush=True)
        except Exception as error:
            failed += 1
            print(f"{program.__name__}: {type(error).__name__}: {str(error).splitlines()[0][:200]}", flush=True)
    print("the end: passed", flush=True)
    sys.exit(failed > 0)
