"""The CUDA driver as jobs call it, in the device's primary context (which frameworks use), and how jobs report."""

import ctypes
import json
import os

MIB = 1 << 20
_driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(_driver, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name} returned {code}")


def use_device():
    """Device 0."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxPushCurrent_v2", context)
    return device


def free_bytes():
    """Of the device, whoever uses it."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value


def allocate(size):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address


def free(address):
    call("cuMemFree_v2", address)


def is_planted():
    """Whether this job is to behave wrongly, because the judge is being tested."""
    return bool(os.environ.get("JUDGE_PLANT"))


def report(**figures):
    """One line, which the judge reads."""
    print(json.dumps(figures), flush=True)


def leave():
    """Ends the process while it still holds its memory: the last state that hbmscope records is the one that was reported."""
    os._exit(0)
