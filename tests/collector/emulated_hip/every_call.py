"""A job that calls every entry point of HIP that takes memory or gives it back, once, and prints what a recording of it
should hold: one JSON object, `rows` with the fields that are known, `called` with the names.
"""

import ctypes
import json
import struct
import sys
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path

hip = ctypes.CDLL("libamdhip64.so.6")
rows, called = [], []
GPU_0, GPU_1, MANAGED, HOST = "GPU 0 memory", "GPU 1 memory", "managed memory", "pinned host memory"


def call(name, *arguments):
    called.append(name)
    result = getattr(hip, name)(*arguments)
    assert result == 0, (name, result)


def use(device):
    call("hipSetDevice", c_int(device))


def row(kind, **fields):
    rows.append({"kind": kind, **fields})


def took(name, heap, address, size, requested=None, stream=0):
    fields = {"heap": heap, "size_bytes": size, "requested_bytes": size if requested is None else requested, "text": name, "device_stream": stream}
    row("alloc", **fields, **({} if address is None else {"address": address}))


def gave(heap, address, size):
    row("free", heap=heap, size_bytes=size, **({} if address is None else {"address": address}))


def block(name, size, *rest, heap=GPU_0, stream=0, free="hipFree", free_rest=()):
    at = c_uint64()
    call(name, byref(at), *rest)
    took(name, heap, at.value, size, stream=stream)
    call(free, at, *free_rest)
    gave(heap, at.value, size)


class Extent(ctypes.Structure):
    _fields_ = [("width", c_size_t), ("height", c_size_t), ("depth", c_size_t)]


class Pitched(ctypes.Structure):
    _fields_ = [("at", c_uint64), ("pitch", c_size_t), ("width", c_size_t), ("height", c_size_t)]


# Device memory
block("hipMalloc", 1000, c_size_t(1000))
block("hipExtMallocWithFlags", 1100, c_size_t(1100), c_uint(1))
block("hipMallocManaged", 3000, c_size_t(3000), c_uint(1), heap=MANAGED)
at, pitch, pitched = c_uint64(), c_size_t(), Pitched()
call("hipMallocPitch", byref(at), byref(pitch), c_size_t(1000), c_size_t(3))
took("hipMallocPitch", GPU_0, at.value, 3 * 1024, 3 * 1000)
call("hipMemAllocPitch", byref(at), byref(pitch), c_size_t(500), c_size_t(2), c_uint(4))
took("hipMemAllocPitch", GPU_0, at.value, 2 * 512, 2 * 500)
call("hipMalloc3D", byref(pitched), Extent(100, 5, 2))
took("hipMalloc3D", GPU_0, pitched.at, 256 * 10, 100 * 10)
# Nothing is allocated, and freeing nothing is allowed.
call("hipMalloc", byref(at), c_size_t(0))
call("hipFree", None)

# Streams and pools. Where the thread's device is another than the stream's, the stream's counts.
plain, flagged, urgent, masked = (c_void_p() for _ in range(4))
call("hipStreamCreate", byref(plain))
use(1)
call("hipStreamCreateWithFlags", byref(flagged), c_uint(0))
call("hipStreamCreateWithPriority", byref(urgent), c_uint(0), c_int(-1))
call("hipExtStreamCreateWithCUMask", byref(masked), c_uint(1), byref(c_uint(3)))
use(0)
for number, (stream, heap) in enumerate(((plain, GPU_0), (flagged, GPU_1), (urgent, GPU_1), (masked, GPU_1)), 1):
    block("hipMallocAsync", 4000 + number, c_size_t(4000 + number), stream, heap=heap, stream=number, free="hipFreeAsync", free_rest=(stream,))
block("hipMallocAsync", 4100, c_size_t(4100), None, free="hipFreeAsync", free_rest=(None,))
call("hipStreamDestroy", urgent)
pool, other_pool = c_void_p(), c_void_p()
on_gpu_1 = struct.pack("iiii", 1, 0, 1, 1) + bytes(80)
call("hipMemPoolCreate", byref(pool), on_gpu_1)
block("hipMallocFromPoolAsync", 6000, c_size_t(6000), pool, plain, heap=GPU_1, stream=1)
for name in ("hipStreamSynchronize", "hipStreamSynchronize_spt"):
    call(name, plain)
call("hipDeviceSynchronize")
event = c_void_p()
assert hip.hipEventCreate(byref(event)) == 0
call("hipEventSynchronize", event)
call("hipMemPoolSetAttribute", pool, c_int(4), byref(c_uint64(1 << 30)))
call("hipMemPoolTrimTo", pool, c_size_t(0))
call("hipDeviceSetMemPool", c_int(1), pool)
call("hipMemPoolDestroy", pool)
for name in ("hipDeviceGetDefaultMemPool", "hipDeviceGetMemPool"):
    call(name, byref(other_pool), c_int(1))
call("hipMemGetMemPool", byref(other_pool), struct.pack("ii", 1, 1), c_int(1))
block("hipMallocFromPoolAsync", 7000, c_size_t(7000), other_pool, None, heap=GPU_1)

# Physical memory apart from addresses: a handle under two addresses, released first; one that is retained
MIB = 1 << 20
reserved, handle, retained = c_uint64(), c_uint64(), c_uint64()
call("hipMemAddressReserve", byref(reserved), c_size_t(8 * MIB), c_size_t(0), c_uint64(0), c_uint64(0))
row("reserve", heap=GPU_0, address=reserved.value, size_bytes=8 * MIB)
call("hipMemCreate", byref(handle), c_size_t(2 * MIB), on_gpu_1, c_uint64(0))
row("physical_create", heap=GPU_1, handle=handle.value, size_bytes=2 * MIB)
for offset in (0, 2 * MIB):
    call("hipMemMap", c_uint64(reserved.value + offset), c_size_t(2 * MIB), c_size_t(0), handle, c_uint64(0))
    row("map", heap=GPU_1, address=reserved.value + offset, size_bytes=2 * MIB, handle=handle.value, offset_bytes=0)
shared_file = c_int()
call("hipMemExportToShareableHandle", byref(shared_file), handle, c_int(1), c_uint64(0))
row("physical_export", handle=handle.value)
call("hipMemRetainAllocationHandle", byref(retained), c_void_p(reserved.value))
row("physical_import", handle=handle.value, size_bytes=2 * MIB)
for _ in range(2):
    call("hipMemRelease", handle)
    row("physical_release", handle=handle.value)
call("hipMemUnmap", c_uint64(reserved.value), c_size_t(4 * MIB))  # Both at once.
for offset in (0, 2 * MIB):
    row("unmap", heap=GPU_1, address=reserved.value + offset, size_bytes=2 * MIB)
# The size of an import is reported with its first mapping.
call("hipMemImportFromShareableHandle", byref(handle), c_void_p(shared_file.value), c_int(1))
call("hipMemMap", reserved, c_size_t(2 * MIB), c_size_t(0), handle, c_uint64(0))
row("physical_import", heap=GPU_0, handle=handle.value, size_bytes=2 * MIB)
row("map", heap=GPU_0, address=reserved.value, size_bytes=2 * MIB, handle=handle.value, offset_bytes=0)
call("hipMemUnmap", reserved, c_size_t(2 * MIB))
row("unmap", heap=GPU_0, address=reserved.value, size_bytes=2 * MIB)
call("hipMemRelease", handle)
row("physical_release", handle=handle.value)
call("hipMemAddressFree", reserved, c_size_t(8 * MIB))
row("unreserve", heap=GPU_0, address=reserved.value, size_bytes=8 * MIB)

# Arrays: of 32-bit floats, or of pairs of them
FLOAT, BYTE, LAYERED = 0x20, 1, 1
ONE, TWO = struct.pack("iiiii", 32, 0, 0, 0, 2), struct.pack("iiiii", 32, 32, 0, 0, 2)
array = c_void_p()
for name, arguments, size, free in (
    ("hipArrayCreate", (struct.pack("QQII", 100, 0, BYTE, 4),), 100 * 4, "hipArrayDestroy"),
    ("hipArray3DCreate", (struct.pack("QQQIII", 8, 8, 3, FLOAT, 1, LAYERED),), 8 * 8 * 3 * 4, "hipFreeArray"),
    ("hipMallocArray", (TWO, c_size_t(100), c_size_t(10), c_uint(0)), 100 * 10 * 8, "hipFreeArray"),
    ("hipMalloc3DArray", (ONE, Extent(8, 8, 8), c_uint(0)), 8 * 8 * 8 * 4, "hipFreeArray"),
    ("hipMipmappedArrayCreate", (struct.pack("QQQIII4x", 8, 4, 0, FLOAT, 1, 0), c_uint(9)), (8 * 4 + 4 * 2 + 2 + 1) * 4, "hipMipmappedArrayDestroy"),
    ("hipMallocMipmappedArray", (ONE, Extent(8, 4, 0), c_uint(9), c_uint(0)), (8 * 4 + 4 * 2 + 2 + 1) * 4, "hipFreeMipmappedArray"),
):
    call(name, byref(array), *arguments)
    took(name, GPU_0, None, size)
    call(free, array)
    gave(GPU_0, None, size)

# The host's
host = c_void_p()
for name, size, free in (("hipHostMalloc", 11, "hipHostFree"), ("hipHostAlloc", 12, "hipFreeHost"), ("hipMallocHost", 13, "hipFreeHost"), ("hipMemAllocHost", 14, "hipFree")):
    call(name, byref(host), c_size_t(size), *((c_uint(0),) if name in ("hipHostMalloc", "hipHostAlloc") else ()))
    took(name, HOST, host.value, size)
    call(free, host)
    gave(HOST, host.value, size)
mine = ctypes.create_string_buffer(4096)
call("hipHostRegister", mine, c_size_t(4096), c_uint(0))
took("hipHostRegister", HOST, ctypes.addressof(mine), 4096)
call("hipHostUnregister", mine)
gave(HOST, ctypes.addressof(mine), 4096)


# Other processes' memory and other libraries': it is mapped here, and counted there.
class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def foreign(name, *arguments, free):
    call(name, byref(at), *arguments)
    row("physical_import", heap=GPU_0, handle=at.value, size_bytes=MIB)
    row("map", heap=GPU_0, address=at.value, size_bytes=MIB, handle=at.value)
    call(free, at)
    row("unmap", heap=GPU_0, address=at.value, size_bytes=MIB)
    row("physical_release", handle=at.value)


ipc, exported = IpcHandle(), ctypes.create_string_buffer(64)
for allocate, more, free, share, shared in (
    ("hipMalloc", (), "hipFree", "hipIpcGetMemHandle", byref(ipc)), ("hipMallocAsync", (None,), "hipFreeAsync", "hipMemPoolExportPointer", exported),
):  # fmt: skip
    call(allocate, byref(at), c_size_t(MIB), *more)
    took(allocate, GPU_0, at.value, MIB)
    call(share, shared, at)
    row("attribute", key="shared with another process by", text=share)
    call(free, at, *more)
    gave(GPU_0, at.value, MIB)
foreign("hipIpcOpenMemHandle", ipc, c_uint(1), free="hipIpcCloseMemHandle")
foreign("hipMemPoolImportPointer", pool, exported, free="hipFree")
external = c_void_p()
call("hipImportExternalMemory", byref(external), struct.pack("i4x16xQ68x", 1, 4 * MIB))
row("physical_import", heap=GPU_0, handle=external.value, size_bytes=4 * MIB)
call("hipExternalMemoryGetMappedBuffer", byref(at), external, struct.pack("QQ68x", 4096, MIB))
row("map", heap=GPU_0, address=at.value, size_bytes=MIB, handle=external.value, offset_bytes=4096)
call("hipFree", at)
row("unmap", heap=GPU_0, address=at.value, size_bytes=MIB)
call("hipDestroyExternalMemory", external)
row("physical_release", handle=external.value)

# Graphs: the memory of their nodes is held from the first upload or launch on, and reported as handles of the device,
# one more at each growth
GRAPH_HANDLES = 0xFFFFFFFE00000000


def grown_for_graphs(number, size):
    row("physical_create", heap=GPU_0, handle=GRAPH_HANDLES + number, size_bytes=size)


MEM_ALLOC = 10
graph, node, executables = c_void_p(), c_void_p(), []
takes = lambda size: struct.pack("iiii", 1, 0, 1, 0) + bytes(88) + struct.pack("QQ", size, 0)
assert hip.hipGraphCreate(byref(graph), c_uint(0)) == 0


def instantiated():
    executables.append(c_void_p())
    assert hip.hipGraphInstantiateWithFlags(byref(executables[-1]), graph, c_uint64(0)) == 0
    return executables[-1]


call("hipGraphLaunch", instantiated(), plain)
call("hipGraphAddMemAllocNode", byref(node), graph, None, c_size_t(0), takes(3 * MIB))
call("hipGraphUpload", instantiated(), plain)
grown_for_graphs(0, 3 * MIB)
call("hipGraphAddNode", byref(node), graph, None, c_size_t(0), struct.pack("i12x", MEM_ALLOC) + takes(MIB) + bytes(120))
call("hipGraphLaunch_spt", instantiated(), plain)
grown_for_graphs(1, MIB)

# Memory allocated on a stream that is being captured belongs to its graph.
for capture, more in (("hipStreamBeginCapture", (c_int(0),)), ("hipStreamBeginCapture_spt", (c_int(0),)), ("hipStreamBeginCaptureToGraph", (graph, None, None, c_size_t(0), c_int(0)))):
    call(capture, plain, *more)
    call("hipMallocAsync", byref(at), c_size_t(700), plain)
    call("hipFreeAsync", at, plain)
    assert hip.hipStreamEndCapture(plain, byref(c_void_p())) == 0
    block("hipMallocAsync", 800, c_size_t(800), plain, stream=1, free="hipFreeAsync", free_rest=(plain,))

for executable in executables:
    call("hipGraphExecDestroy", executable)
call("hipDeviceGraphMemTrim", c_int(0))
for number in range(2):
    row("physical_release", handle=GRAPH_HANDLES + number)

# Variables of code are reported when they are first requested; they end with their module. The code is that of the
# other job of this kind.
sys.path.insert(0, str(Path(__file__).parent.parent / "emulated_driver"))
from cubin import code_with_variables  # noqa: E402

CODE = code_with_variables(b"table", b"weights")
module, size = c_void_p(), c_size_t()
use(1)


def variable(symbol, is_first=True):
    at = c_uint64()
    call("hipModuleGetGlobal", byref(at), byref(size), module, symbol)
    if is_first:
        took("hipModuleGetGlobal", GPU_1, at.value, len(symbol))
        row("attribute", key="variable", text=symbol.decode())
    return GPU_1, at.value, len(symbol)


assert hip.hipModuleLoadData(byref(module), CODE) == 0
table, weights = variable(b"table"), variable(b"weights")
variable(b"weights", is_first=False)
call("hipModuleUnload", module)
gave(*weights)
gave(*table)

# A reset ends what is on the thread's device, pools included, and neither pinned nor managed memory.
assert hip.hipModuleLoadData(byref(module), CODE) == 0
call("hipMemPoolCreate", byref(pool), on_gpu_1)
kept, ended = [], []
for name, heap, more, of in (
    ("hipHostMalloc", HOST, (c_uint(0),), kept), ("hipMallocManaged", MANAGED, (c_uint(1),), kept), ("hipMalloc", GPU_1, (), ended), ("hipMallocAsync", GPU_1, (None,), ended),
    ("hipMallocFromPoolAsync", GPU_1, (pool, None), ended),
):  # fmt: skip
    call(name, byref(at), c_size_t(900), *more)
    took(name, heap, at.value, 900)
    of.append((heap, at.value, 900))
variable_on_1 = variable(b"table")
use(0)
call("hipMalloc", byref(at), c_size_t(901))
took("hipMalloc", GPU_0, at.value, 901)
use(1)
call("hipDeviceReset")
gave(*variable_on_1)
for gone in reversed(ended):
    gave(*gone)
block("hipMallocAsync", 902, c_size_t(902), None, heap=GPU_1, free="hipFreeAsync", free_rest=(None,))
call("hipFree", at)
gave(GPU_0, at.value, 901)
for heap, address, size in kept:
    call("hipHostFree", c_uint64(address))
    gave(heap, address, size)

print(json.dumps({"rows": rows, "called": called}))
