"""What the emulated driver has handed out in this process."""

import ctypes

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
