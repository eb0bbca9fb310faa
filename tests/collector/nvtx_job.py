"""NVTX as a program carries it, in Python: what the header of NVTX does at its first call, and calls of each kind.

    nvtx_job.py [fork | many]   prints what it was given back, as JSON
"""

import ctypes as C
import json
import os
import sys
import threading

CORE, CORE2 = 1, 5
SIZES = {CORE: 16, CORE2: 16}
slots = {module: [C.c_void_p() for _ in range(size)] for module, size in SIZES.items()}
tables = {module: (C.c_void_p * len(of))(*[C.addressof(slot) for slot in of]) for module, of in slots.items()}


class Attributes(C.Structure):
    class Message(C.Union):
        _fields_ = [("ascii", C.c_char_p), ("wide", C.c_wchar_p), ("registered", C.c_void_p)]

    _fields_ = [("version", C.c_uint16), ("bytes", C.c_uint16), ("category", C.c_uint32), ("color_type", C.c_int32), ("color", C.c_uint32),
                ("payload_type", C.c_int32), ("reserved", C.c_int32), ("payload", C.c_uint64), ("message_type", C.c_int32), ("message", Message)]


@C.CFUNCTYPE(C.c_int, C.c_int, C.POINTER(C.c_void_p), C.POINTER(C.c_uint))
def get_table(module, table, size):
    if module not in tables:
        return 0
    table[0], size[0] = C.addressof(tables[module]), SIZES[module]
    return 1


class Callbacks(C.Structure):
    _fields_ = [("bytes", C.c_size_t), ("get_table", C.c_void_p)]


callbacks = Callbacks(16, C.cast(get_table, C.c_void_p))


@C.CFUNCTYPE(C.c_void_p, C.c_uint32)
def get_export_table(which):
    return C.addressof(callbacks) if which == 1 else None


def call(module, place, returns, *arguments):
    function = slots[module][place].value
    if function is None:
        return None
    return C.CFUNCTYPE(returns, *[type(argument) for argument in arguments])(function)(*arguments)


def attributes(kind, message):
    value = Attributes(2, C.sizeof(Attributes), message_type=kind)
    setattr(value.message, {1: "ascii", 2: "wide", 3: "registered"}[kind], message)
    return C.pointer(value)


given = {}
path = os.environ.get("NVTX_INJECTION64_PATH")
given["is_listened_to"] = path is not None and C.CDLL(path).InitializeInjectionNvtx2(get_export_table)

cuda = C.CDLL("libcuda.so.1")
assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(1000)) == 0

text, wide = C.c_char_p, C.c_wchar_p
call(CORE, 2, None, text(b"a mark"))
call(CORE, 3, None, wide("weit \u00e4\u20ac\U0001f600"))
call(CORE, 1, None, attributes(1, b"a mark with attributes"))
given["levels"] = [call(CORE, 9, C.c_int, text(b"step")), call(CORE, 10, C.c_int, wide("forward")), call(CORE, 8, C.c_int, attributes(1, b"layer"))]
given["tsl"] = call(CORE2, 12, C.c_void_p, text(b"TSL"))  # XLA marks every operation if it gets this domain.
tsl = C.c_void_p(given["tsl"])
if tsl.value is not None:
    call(CORE2, 4, C.c_int, tsl, attributes(1, b"an operation"))
    call(CORE2, 5, C.c_int, tsl)
domain = C.c_void_p(call(CORE2, 12, C.c_void_p, text(b"NCCL")))
given["again"] = domain.value is None or call(CORE2, 13, C.c_void_p, wide("NCCL")) == domain.value
registered = call(CORE2, 10, C.c_void_p, domain, text(b"AllReduce"))
given["in domain"] = call(CORE2, 4, C.c_int, domain, attributes(3, registered))
given["popped"] = [call(CORE, 11, C.c_int) for _ in range(2)]  # Ranges of no domain; the domain's range stays.
numbers = [call(CORE, 5, C.c_uint64, text(b"copy")), call(CORE2, 2, C.c_uint64, domain, attributes(2, "send"))]


def in_another_thread():
    given["thread"] = [call(CORE, 9, C.c_int, text(b"in a thread")), call(CORE, 11, C.c_int), call(CORE, 11, C.c_int)]
    call(CORE, 7, None, C.c_uint64(numbers[0] or 0))


thread = threading.Thread(target=in_another_thread)
thread.start()
thread.join()
call(CORE2, 3, None, domain, C.c_uint64(numbers[1] or 0))
call(CORE, 7, None, C.c_uint64(12345))  # A range that nobody started.
given["popped in domain"] = call(CORE2, 5, C.c_int, domain)
call(CORE, 11, C.c_int)
if sys.argv[1:] == ["fork"]:
    if os.fork() == 0:
        assert cuda.cuMemAlloc_v2(C.byref(C.c_uint64()), C.c_size_t(2000)) == 0
        call(CORE2, 1, None, domain, attributes(3, registered))
        os._exit(0)
    os.wait()
if sys.argv[1:] == ["many"]:
    for _ in range(100):
        call(CORE, 9, C.c_int, text(b"deep"))
    for _ in range(100):
        call(CORE, 11, C.c_int)
    for i in range(20000):
        call(CORE, 2, None, text(b"name %d" % i))
print(json.dumps(given))
