"""Looks every entry point of a list up, in the ways in which programs do, and reports in which library each one is.

    resolve.py NAME,VERSION ...     names of the driver's symbols, and the CUDA version of each for cuGetProcAddress
"""

import ctypes
import re
import sys

import cuda


class Place(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("at", ctypes.c_void_p)]


libc = ctypes.CDLL(None)
libc.dladdr.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
driver = ctypes.CDLL("libcuda.so.1")


def library_of(address):
    place = Place()
    return place.file.decode().rsplit("/", 1)[-1] if libc.dladdr(address, ctypes.byref(place)) else "no library"


def by_symbol(name):
    try:
        return ctypes.cast(getattr(driver, name), ctypes.c_void_p).value
    except AttributeError:
        return None


def by_driver(name, version):
    found = ctypes.c_void_p()
    code = driver.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), version, ctypes.c_uint64(0), None)
    return found.value if code == 0 else None


cuda.use_device()
found, elsewhere = 0, []
for word in sys.argv[1:]:
    name, version = word.split(",")
    base = re.sub(r"_v\d$", "", re.sub(r"_(ptsz|ptds)$", "", name))
    for way, address in (("dlsym", by_symbol(name)), ("cuGetProcAddress", by_driver(base, int(version) or 2000))):
        if address:
            found += 1
            if library_of(address) != "libhbmscope_collector.so":
                elsewhere.append(f"{name} by {way}: {library_of(address)}")
cuda.report(found=found, elsewhere=elsewhere)
