"""A job that calls every entry point that takes memory or gives it back, once, and prints what a recording of it should
hold: one JSON object, `rows` with the fields that are known, `called` with the names.

    every_call.py [cupti]      cupti: the driver's calls are reported by CUPTI, where the driver can't be asked how large
                               another process' block is, so that nothing is told of it
"""

import ctypes
import json
import struct
import sys
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

from cubin import code_with_variables

cuda = ctypes.CDLL("libcuda.so.1")
is_reported_by_cupti = sys.argv[1:] == ["cupti"]
rows, called = [], []
GPU_0, GPU_1, MANAGED, HOST = "GPU 0 memory", "GPU 1 memory", "managed memory", "pinned host memory"


def call(name, *arguments):
    called.append(name)
    result = getattr(cuda, name)(*arguments)
    assert result == 0, (name, result)


def row(kind, **fields):
    rows.append({"kind": kind, **fields})


# By address: blocks whose end isn't reported. They end when something else is allocated there.
stale = {}


def took(name, heap, address, size, requested=None, stream=0):
    if address in stale:
        gone, *block = stale.pop(address)
        row("free_derived" if gone == heap else "free", heap=gone, address=address, size_bytes=block[1])
    fields = {"heap": heap, "size_bytes": size, "requested_bytes": size if requested is None else requested, "text": name, "device_stream": stream}
    row("alloc", **fields, **({} if address is None else {"address": address}))


def gave(heap, address, size):
    row("free", heap=heap, size_bytes=size, **({} if address is None else {"address": address}))


def block(name, size, *rest, heap=GPU_0, stream=0, free="cuMemFree_v2", free_rest=()):
    at = c_uint64()
    call(name, byref(at), *rest)
    took(name, heap, at.value, size, stream=stream)
    call(free, at, *free_rest)
    gave(heap, at.value, size)


# Device memory
block("cuMemAlloc_v2", 1000, c_size_t(1000))
for name, free in (("cuMemAlloc", "cuMemFree"),):
    at = c_uint()
    call(name, byref(at), c_uint(2000))
    took(name, GPU_0, at.value, 2000)
    call(free, at)
    gave(GPU_0, at.value, 2000)
at, at_32, pitch, pitch_32 = c_uint64(), c_uint(), c_size_t(), c_uint()
call("cuMemAllocPitch_v2", byref(at), byref(pitch), c_size_t(1000), c_size_t(3), c_uint(4))
took("cuMemAllocPitch_v2", GPU_0, at.value, 3 * 1024, 3 * 1000)
call("cuMemAllocPitch", byref(at_32), byref(pitch_32), c_uint(500), c_uint(2), c_uint(4))
took("cuMemAllocPitch", GPU_0, at_32.value, 2 * 512, 2 * 500)
block("cuMemAllocManaged", 3000, c_size_t(3000), c_uint(1), heap=MANAGED)

# Streams and pools
stream = c_void_p()  # Of unknown origin: the thread's device counts.
call("cuGreenCtxStreamCreate", byref(stream), None, c_uint(0), c_int(0))
block("cuMemAllocAsync", 4000, c_size_t(4000), stream, stream=1, free="cuMemFreeAsync", free_rest=(stream,))
block("cuMemAllocAsync_ptsz", 5000, c_size_t(5000), None, free="cuMemFreeAsync_ptsz", free_rest=(None,))
# Where the thread's device is another than the stream's, the stream's counts.
elsewhere, urgent_elsewhere = c_void_p(), c_void_p()
cuda.fake_use_device(1)
call("cuStreamCreate", byref(elsewhere), c_uint(0))
call("cuStreamCreateWithPriority", byref(urgent_elsewhere), c_uint(0), c_int(-1))
cuda.fake_use_device(0)
block("cuMemAllocAsync", 4100, c_size_t(4100), elsewhere, heap=GPU_1, stream=2, free="cuMemFreeAsync", free_rest=(elsewhere,))
block("cuMemAllocAsync_ptsz", 4200, c_size_t(4200), urgent_elsewhere, heap=GPU_1, stream=3, free="cuMemFreeAsync", free_rest=(urgent_elsewhere,))
block("cuMemAllocAsync", 4300, c_size_t(4300), stream, stream=1, free="cuMemFreeAsync", free_rest=(stream,))
here = c_void_p()
call("cuStreamCreate", byref(here), c_uint(0))
cuda.fake_use_device(1)
block("cuMemAllocAsync", 4400, c_size_t(4400), here, heap=GPU_0, stream=4, free="cuMemFreeAsync", free_rest=(here,))
cuda.fake_use_device(0)
call("cuStreamDestroy", urgent_elsewhere)
call("cuStreamDestroy_v2", elsewhere)
block("cuMemAllocAsync", 4500, c_size_t(4500), elsewhere, heap=GPU_0, stream=2, free="cuMemFreeAsync", free_rest=(elsewhere,))
pool, other_pool = c_void_p(), c_void_p()
on_gpu_1 = struct.pack("iiii", 1, 0, 1, 1) + bytes(80)
call("cuMemPoolCreate", byref(pool), on_gpu_1)
for name in ("cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz"):
    block(name, 6000, c_size_t(6000), pool, stream, heap=GPU_1, stream=1)
for name in ("cuStreamSynchronize", "cuStreamSynchronize_ptsz"):
    call(name, stream)
call("cuCtxSynchronize")
call("cuCtxSynchronize_v2", None)
event = c_void_p()
assert cuda.cuEventCreate(byref(event), c_uint(0)) == 0
call("cuEventSynchronize", event)
call("cuMemPoolSetAttribute", pool, c_int(4), byref(c_uint64(1 << 30)))
call("cuMemPoolTrimTo", pool, c_size_t(0))
call("cuDeviceSetMemPool", c_int(1), pool)
call("cuMemSetMemPool", struct.pack("ii", 1, 1), c_int(1), pool)
call("cuMemPoolDestroy", pool)
for name in ("cuDeviceGetDefaultMemPool", "cuDeviceGetMemPool"):
    call(name, byref(other_pool), c_int(1))
block("cuMemAllocFromPoolAsync", 7000, c_size_t(7000), other_pool, None, heap=GPU_1)
for name in ("cuMemGetDefaultMemPool", "cuMemGetMemPool"):
    call(name, byref(other_pool), struct.pack("ii", 1, 1), c_int(1))
    block("cuMemAllocFromPoolAsync", 7100, c_size_t(7100), other_pool, None, heap=GPU_1)

# Physical memory apart from addresses: a handle under two addresses, released first; one that is retained
MIB = 1 << 20
reserved, handle, retained = c_uint64(), c_uint64(), c_uint64()
call("cuMemAddressReserve", byref(reserved), c_size_t(8 * MIB), c_size_t(0), c_uint64(0), c_uint64(0))
row("reserve", heap=GPU_0, address=reserved.value, size_bytes=8 * MIB)
call("cuMemCreate", byref(handle), c_size_t(2 * MIB), on_gpu_1, c_uint64(0))
row("physical_create", heap=GPU_1, handle=handle.value, size_bytes=2 * MIB)
for offset in (0, 2 * MIB):
    call("cuMemMap", c_uint64(reserved.value + offset), c_size_t(2 * MIB), c_size_t(0), handle, c_uint64(0))
    row("map", heap=GPU_1, address=reserved.value + offset, size_bytes=2 * MIB, handle=handle.value, offset_bytes=0)
shared_file = c_int()
call("cuMemExportToShareableHandle", byref(shared_file), handle, c_int(1), c_uint64(0))
row("physical_export", handle=handle.value)
call("cuMemRetainAllocationHandle", byref(retained), c_void_p(reserved.value))
row("physical_import", handle=handle.value, size_bytes=2 * MIB)
for _ in range(2):
    call("cuMemRelease", handle)
    row("physical_release", handle=handle.value)
call("cuMemUnmap", c_uint64(reserved.value), c_size_t(4 * MIB))  # Both at once.
for offset in (0, 2 * MIB):
    row("unmap", heap=GPU_1, address=reserved.value + offset, size_bytes=2 * MIB)
# The size of an import is reported with its first mapping.
call("cuMemImportFromShareableHandle", byref(handle), c_void_p(shared_file.value), c_int(1))
call("cuMemMap", reserved, c_size_t(MIB), c_size_t(MIB), handle, c_uint64(0))
row("physical_import", heap=GPU_0, handle=handle.value, size_bytes=2 * MIB)
row("map", heap=GPU_0, address=reserved.value, size_bytes=MIB, handle=handle.value, offset_bytes=MIB)
call("cuMemUnmap", reserved, c_size_t(MIB))
row("unmap", heap=GPU_0, address=reserved.value, size_bytes=MIB)
call("cuMemRelease", handle)
row("physical_release", handle=handle.value)
# A multicast object owns nothing.
call("cuMulticastCreate", byref(handle), struct.pack("I4xQQQ", 2, 2 * MIB, 0, 0))
call("cuMemMap", reserved, c_size_t(MIB), c_size_t(0), handle, c_uint64(0))
call("cuMemUnmap", reserved, c_size_t(MIB))
call("cuMemRelease", handle)
call("cuMemAddressFree", reserved, c_size_t(8 * MIB))
row("unreserve", heap=GPU_0, address=reserved.value, size_bytes=8 * MIB)

# Arrays: of 32-bit floats
FLOAT, BYTE, LAYERED = 0x20, 1, 1
array = c_void_p()
for name, description, size, rest in (
    ("cuArrayCreate", struct.pack("IIII", 100, 10, FLOAT, 2), 100 * 10 * 8, ()),
    ("cuArrayCreate_v2", struct.pack("QQII", 100, 0, BYTE, 4), 100 * 4, ()),
    ("cuArray3DCreate", struct.pack("IIIIII", 8, 8, 8, FLOAT, 1, 0), 8 * 8 * 8 * 4, ()),
    ("cuArray3DCreate_v2", struct.pack("QQQIII", 8, 8, 3, FLOAT, 1, LAYERED), 8 * 8 * 3 * 4, ()),
    ("cuMipmappedArrayCreate", struct.pack("QQQIII4x", 8, 4, 0, FLOAT, 1, 0), (8 * 4 + 4 * 2 + 2 + 1) * 4, (c_uint(9),)),
):
    call(name, byref(array), description, *rest)
    took(name, GPU_0, None, size)
    call("cuMipmappedArrayDestroy" if rest else "cuArrayDestroy", array)
    gave(GPU_0, None, size)

# The host's
host = c_void_p()
for name, size in (
    ("cuMemAllocHost", c_uint(11)), ("cuMemAllocHost_v2", c_size_t(12)), ("cuMemHostAlloc", c_size_t(13)), ("cuMemHostAlloc_v2", c_size_t(14)),
):
    call(name, byref(host), size, c_uint(0))
    took(name, HOST, host.value, size.value)
    call("cuMemFreeHost", host)
    gave(HOST, host.value, size.value)
mine = ctypes.create_string_buffer(4096)
for name in ("cuMemHostRegister", "cuMemHostRegister_v2"):
    call(name, mine, c_size_t(4096), c_uint(0))
    took(name, HOST, ctypes.addressof(mine), 4096)
    call("cuMemHostUnregister", mine)
    gave(HOST, ctypes.addressof(mine), 4096)


# Other processes' memory and other libraries': it is mapped here, and counted there.
class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def foreign(name, *arguments, free="cuMemFree_v2"):
    call(name, byref(at), *arguments)
    if is_reported_by_cupti:
        call(free, at)
        return
    row("physical_import", heap=GPU_0, handle=at.value, size_bytes=MIB)
    row("map", heap=GPU_0, address=at.value, size_bytes=MIB, handle=at.value)
    call(free, at)
    row("unmap", heap=GPU_0, address=at.value, size_bytes=MIB)
    row("physical_release", handle=at.value)


ipc, exported = IpcHandle(), ctypes.create_string_buffer(64)
for allocate, more, free, share, shared in (
    ("cuMemAlloc_v2", (), "cuMemFree_v2", "cuIpcGetMemHandle", byref(ipc)), ("cuMemAllocAsync", (None,), "cuMemFreeAsync", "cuMemPoolExportPointer", exported),
):  # fmt: skip
    call(allocate, byref(at), c_size_t(MIB), *more)
    took(allocate, GPU_0, at.value, MIB)
    call(share, shared, at)
    row("attribute", key="shared with another process by", text=share)
    call(free, at, *more)
    gave(GPU_0, at.value, MIB)
foreign("cuIpcOpenMemHandle", ipc, c_uint(1), free="cuIpcCloseMemHandle")
foreign("cuIpcOpenMemHandle_v2", ipc, c_uint(1), free="cuIpcCloseMemHandle")
foreign("cuMemPoolImportPointer", pool, exported)
external = c_void_p()
call("cuImportExternalMemory", byref(external), struct.pack("i4x16xQ68x", 1, 4 * MIB))
row("physical_import", heap=GPU_0, handle=external.value, size_bytes=4 * MIB)
call("cuExternalMemoryGetMappedBuffer", byref(at), external, struct.pack("QQ68x", 4096, MIB))
row("map", heap=GPU_0, address=at.value, size_bytes=MIB, handle=external.value, offset_bytes=4096)
call("cuExternalMemoryGetMappedMipmappedArray", byref(array), external, struct.pack("QQQQIIII64x", 0, 64, 64, 0, FLOAT, 1, 0, 1))
call("cuMipmappedArrayDestroy", array)
call("cuMemFree_v2", at)
row("unmap", heap=GPU_0, address=at.value, size_bytes=MIB)
call("cuDestroyExternalMemory", external)
row("physical_release", handle=external.value)

# Graphs: the memory of their nodes is held from the first upload or launch on, and reported as handles of the device,
# one more at each growth
GRAPH_HANDLES = 0xFFFFFFFE00000000


def grown_for_graphs(number, size):
    row("physical_create", heap=GPU_0, handle=GRAPH_HANDLES + number, size_bytes=size)


MEM_ALLOC, KERNEL = 10, 0
graph, node, executables = c_void_p(), c_void_p(), []
takes = lambda size: struct.pack("iiii", 1, 0, 1, 0) + bytes(88) + struct.pack("QQ", size, 0)
assert cuda.cuGraphCreate(byref(graph), c_uint(0)) == 0


def instantiated():
    executables.append(c_void_p())
    assert cuda.cuGraphInstantiateWithFlags(byref(executables[-1]), graph, c_uint64(0)) == 0
    return executables[-1]


call("cuGraphAddNode", byref(node), graph, None, c_size_t(0), ctypes.create_string_buffer(struct.pack("i12x", KERNEL) + bytes(240)))
call("cuGraphLaunch", instantiated(), stream)
call("cuGraphAddMemAllocNode", byref(node), graph, None, c_size_t(0), takes(3 * MIB))
for name in ("cuGraphUpload", "cuGraphUpload_ptsz"):
    call(name, instantiated(), stream)
grown_for_graphs(0, 3 * MIB)
call("cuGraphAddNode", byref(node), graph, None, c_size_t(0), struct.pack("i12x", MEM_ALLOC) + takes(MIB) + bytes(120))
call("cuGraphLaunch", instantiated(), stream)
grown_for_graphs(1, MIB)
call("cuGraphAddNode_v2", byref(node), graph, None, None, c_size_t(0), struct.pack("i12x", MEM_ALLOC) + takes(MIB) + bytes(120))
call("cuGraphLaunch_ptsz", instantiated(), None)
grown_for_graphs(2, MIB)
call("cuGraphAddNode_v3", byref(node), graph, None, None, c_size_t(0), struct.pack("i12x", MEM_ALLOC) + takes(MIB) + bytes(120))
call("cuGraphLaunch", instantiated(), stream)
grown_for_graphs(3, MIB)

# Memory allocated on a stream that is being captured belongs to its graph, if the driver can be queried for the capture
for capture, more, name, on in (
    ("cuStreamBeginCapture", (), "cuMemAllocAsync", stream), ("cuStreamBeginCapture_v2", (c_int(0),), "cuMemAllocAsync", stream),
    ("cuStreamBeginCapture_ptsz", (), "cuMemAllocAsync_ptsz", None), ("cuStreamBeginCapture_v2_ptsz", (c_int(0),), "cuMemAllocAsync_ptsz", None),
    ("cuStreamBeginCaptureToGraph", (graph, None, None, c_size_t(0), c_int(0)), "cuMemAllocAsync", stream),
    ("cuStreamBeginCaptureToGraph_ptsz", (graph, None, None, c_size_t(0), c_int(0)), "cuMemAllocAsync_ptsz", None),
):  # fmt: skip
    call(capture, on, *more)
    call(name, byref(at), c_size_t(700), on)
    if is_reported_by_cupti:
        took(name, GPU_0, at.value, 700, stream=1 if on else 0)
    call("cuMemFreeAsync", at, on)
    if is_reported_by_cupti:
        gave(GPU_0, at.value, 700)
    assert cuda.cuStreamEndCapture(on, byref(c_void_p())) == 0
    block(name, 800, c_size_t(800), on, stream=1 if on else 0, free="cuMemFreeAsync", free_rest=(on,))

for executable in executables:
    call("cuGraphExecDestroy", executable)
call("cuDeviceGraphMemTrim", c_int(0))
for number in range(4):
    row("physical_release", handle=GRAPH_HANDLES + number)

# Contexts: allocations end with their context. Pool memory has no owner.
context, primary = c_void_p(), c_void_p()


def take_in_context():
    blocks = []
    for name, size, arguments, heap in (("cuMemAlloc_v2", 100, (), GPU_1), ("cuMemAllocManaged", 200, (c_uint(1),), MANAGED), ("cuMemHostAlloc_v2", 300, (c_uint(0),), HOST)):
        call(name, byref(at), c_size_t(size), *arguments)
        took(name, heap, at.value, size)
        blocks.append((heap, at.value, size))
    call("cuArrayCreate_v2", byref(array), struct.pack("QQII", 100, 0, BYTE, 4))
    took("cuArrayCreate_v2", GPU_1, None, 400)
    blocks.append((GPU_1, None, 400))
    call("cuMemAllocAsync", byref(at), c_size_t(500), None)
    took("cuMemAllocAsync", GPU_1, at.value, 500)
    return blocks, c_uint64(at.value)


def context_ends(name, argument, is_reported=True):
    blocks, of_pool = take_in_context()
    call(name, argument)
    for gone in reversed(blocks) if is_reported else ():
        gave(*gone)
    if not is_reported:
        stale.update({at: (heap, at, size) for heap, at, size in blocks if at is not None})
    cuda.fake_use_device(1)
    call("cuMemFreeAsync", of_pool, None)
    gave(GPU_1, of_pool.value, 500)


for create, end in (("cuCtxCreate", "cuCtxDestroy"), ("cuCtxCreate_v2", "cuCtxDestroy_v2")):
    getattr(cuda, create)(byref(context), c_uint(0), c_int(1))
    context_ends(end, context)
cuda.cuCtxCreate_v2(byref(context), c_uint(0), c_int(1))
call("cuCtxAttach", byref(context), c_uint(0))
call("cuCtxDetach", context)  # It is still used once.
context_ends("cuCtxDetach", context)
call("cuDevicePrimaryCtxRetain", byref(primary), c_int(1))
call("cuDevicePrimaryCtxRetain", byref(primary), c_int(1))
call("cuDevicePrimaryCtxRelease", c_int(1))  # Somebody else still uses it.
context_ends("cuDevicePrimaryCtxReset", c_int(1))
call("cuDevicePrimaryCtxRetain", byref(primary), c_int(1))
context_ends("cuDevicePrimaryCtxReset_v2", c_int(1))
call("cuDevicePrimaryCtxRetain", byref(primary), c_int(1))
call("cuDevicePrimaryCtxRelease_v2", c_int(1))
call("cuDevicePrimaryCtxRelease_v2", c_int(1))
# CUPTI's callbacks may not ask whether it is still used: there its blocks stay.
context_ends("cuDevicePrimaryCtxRelease_v2", c_int(1), is_reported=not is_reported_by_cupti)


CODE = code_with_variables(b"unsized", b"table", b"weights", b"scale", b"shared")

# Variables of code are reported when they are first requested; they end with their module, which ends with its context
module, library, size = c_void_p(), c_void_p(), c_size_t()


def variable(name, module, symbol, heap=GPU_1, is_first=True):
    at = c_uint() if name == "cuModuleGetGlobal" else c_uint64()
    call(name, byref(at), byref(size), module, symbol)
    if is_first:
        took(name, heap, at.value, len(symbol))
        row("attribute", key="variable", text=symbol.decode())
    return heap, at.value, len(symbol)


assert cuda.cuModuleLoadData(byref(module), CODE) == 0
assert cuda.cuLibraryLoadData(byref(library), CODE, None, None, c_uint(0), None, None, c_uint(0)) == 0
call("cuModuleGetGlobal_v2", byref(at), None, module, b"unsized")
table = variable("cuModuleGetGlobal", module, b"table")
weights = variable("cuModuleGetGlobal_v2", module, b"weights")
variable("cuModuleGetGlobal_v2", module, b"weights", is_first=False)
scale = variable("cuLibraryGetGlobal", library, b"scale")
shared = variable("cuLibraryGetManaged", library, b"shared", heap=MANAGED)
call("cuModuleUnload", module)
gave(*weights)
gave(*table)
call("cuLibraryUnload", library)
gave(*shared)
gave(*scale)
cuda.cuCtxCreate_v2(byref(context), c_uint(0), c_int(1))
assert cuda.cuModuleLoadData(byref(module), CODE) == 0
again = variable("cuModuleGetGlobal_v2", module, b"weights")
call("cuCtxDestroy_v2", context)
gave(*again)

print(json.dumps({"rows": rows, "called": called}))
