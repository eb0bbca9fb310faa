"""A job that calls every entry point that allocates or frees memory, once, and prints what a recording of it should hold:
one JSON object, `rows` with the fields that are known, `called` with the names.

    every_call.py cuda|hip [cupti]     cupti: CUPTI reports the driver's calls, and the driver can't be queried then

Tables name a call in both APIs, CUDA's first; None: the API has no such call. Where both add only their prefix, the
name is written once, without it. An argument that one of the two doesn't have is ignored by it.
"""

import ctypes
import json
import struct
import sys
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

from emulated_driver.cubin import code_with_variables

IS_CUDA = sys.argv[1] == "cuda"
IS_REPORTED_BY_CUPTI = sys.argv[2:] == ["cupti"]
library = ctypes.CDLL("libcuda.so.1" if IS_CUDA else "libamdhip64.so.6")
rows, called = [], []
GPU_0, GPU_1, MANAGED, HOST = "GPU 0 memory", "GPU 1 memory", "managed memory", "pinned host memory"
MIB = 1 << 20


def of(cuda, hip):
    return cuda if IS_CUDA else hip


def prefixed(name):
    return of("cu", "hip") + name


ALLOC, FREE = of("cuMemAlloc_v2", "hipMalloc"), of("cuMemFree_v2", "hipFree")
ALLOC_MANAGED = of("cuMemAllocManaged", "hipMallocManaged")
ALLOC_ASYNC, FREE_ASYNC = of("cuMemAllocAsync", "hipMallocAsync"), of("cuMemFreeAsync", "hipFreeAsync")
ALLOC_FROM_POOL = of("cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync")


def having(table):
    """The rows of a table whose call this API has: (name, the rest of the row...)."""
    return [(of(cuda, hip), *rest) for cuda, hip, *rest in table if of(cuda, hip)]


def plain(name, *arguments):
    """A call that records nothing."""
    result = getattr(library, name)(*arguments)
    assert result == 0, (name, result)


def call(name, *arguments):
    called.append(name)
    plain(name, *arguments)


def use(device):
    if IS_CUDA:
        library.fake_use_device(device)
    else:
        call("hipSetDevice", c_int(device))


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


def block(name, size, *rest, heap=GPU_0, stream=0, free=FREE, free_rest=()):
    at = c_uint64()
    call(name, byref(at), c_size_t(size), *rest)
    took(name, heap, at.value, size, stream=stream)
    call(free, at, *free_rest)
    gave(heap, at.value, size)


class Extent(ctypes.Structure):
    _fields_ = [("width", c_size_t), ("height", c_size_t), ("depth", c_size_t)]


class Pitched(ctypes.Structure):
    _fields_ = [("at", c_uint64), ("pitch", c_size_t), ("width", c_size_t), ("height", c_size_t)]


# Device memory
for name, size, heap, free in having((
    ("cuMemAlloc_v2", "hipMalloc", 1000, GPU_0, FREE),
    ("cuMemAlloc", None, 2000, GPU_0, "cuMemFree"),
    (None, "hipExtMallocWithFlags", 1100, GPU_0, FREE),
    ("cuMemAllocManaged", "hipMallocManaged", 3000, MANAGED, FREE),
)):  # fmt: skip
    block(name, size, c_uint(1), heap=heap, free=free)
at = c_uint64()
for name, wide, width, height in having((
    ("cuMemAllocPitch_v2", "hipMemAllocPitch", c_size_t, 1000, 3),
    ("cuMemAllocPitch", None, c_uint, 500, 2),
    (None, "hipMallocPitch", c_size_t, 500, 2),
)):  # fmt: skip
    pitched_at, pitch = c_uint64(), c_size_t()  # 32 bits of them for a call of 32-bit sizes.
    call(name, byref(pitched_at), byref(pitch), wide(width), wide(height), c_uint(4))
    took(name, GPU_0, pitched_at.value, height * -(-width // 512) * 512, height * width)
if not IS_CUDA:
    pitched = Pitched()
    call("hipMalloc3D", byref(pitched), Extent(100, 5, 2))
    took("hipMalloc3D", GPU_0, pitched.at, 256 * 10, 100 * 10)
    # Nothing is allocated, and freeing nothing is allowed.
    call("hipMalloc", byref(at), c_size_t(0))
    call("hipFree", None)

# Streams: where the thread's device is another than the stream's, the stream's counts.
streams = []
for name, device, *rest in having((
    ("cuGreenCtxStreamCreate", "hipStreamCreate", 0, None, c_uint(0), c_int(0)),
    ("cuStreamCreate", "hipStreamCreateWithFlags", 1, c_uint(0)),
    ("cuStreamCreateWithPriority", "hipStreamCreateWithPriority", 1, c_uint(0), c_int(-1)),
    ("cuStreamCreate", "hipExtStreamCreateWithCUMask", 0, of(c_uint(0), c_uint(1)), byref(c_uint(3))),
)):  # fmt: skip
    use(device)
    streams.append(c_void_p())
    call(name, byref(streams[-1]), *rest)
    for of_thread in (0, 1):
        use(of_thread)
        # The origin of a green context's stream is unknown: the thread's device counts.
        device_counts = of_thread if name == "cuGreenCtxStreamCreate" else device
        block(ALLOC_ASYNC, 4000 + len(streams), streams[-1], heap=(GPU_0, GPU_1)[device_counts], stream=len(streams), free=FREE_ASYNC, free_rest=(streams[-1],))
use(0)
stream, elsewhere, urgent_elsewhere, _ = streams
for name, free in having((("cuMemAllocAsync", "hipMallocAsync", FREE_ASYNC), ("cuMemAllocAsync_ptsz", None, "cuMemFreeAsync_ptsz"))):
    block(name, 5000, None, free=free, free_rest=(None,))
call(prefixed("StreamDestroy"), urgent_elsewhere)
if IS_CUDA:
    block("cuMemAllocAsync_ptsz", 4200, elsewhere, heap=GPU_1, stream=2, free=FREE_ASYNC, free_rest=(elsewhere,))
    call("cuStreamDestroy_v2", elsewhere)
    block(ALLOC_ASYNC, 4500, elsewhere, heap=GPU_0, stream=2, free=FREE_ASYNC, free_rest=(elsewhere,))

# Pools
pool, other_pool, event = c_void_p(), c_void_p(), c_void_p()
on_gpu_1 = struct.pack("iiii", 1, 0, 1, 1) + bytes(80)
at_gpu_1 = struct.pack("ii", 1, 1)
call(prefixed("MemPoolCreate"), byref(pool), on_gpu_1)
for (name,) in having(((ALLOC_FROM_POOL, ALLOC_FROM_POOL), ("cuMemAllocFromPoolAsync_ptsz", None))):
    block(name, 6000, pool, stream, heap=GPU_1, stream=1)
for name, *waited_for in having((
    ("cuStreamSynchronize", "hipStreamSynchronize", stream),
    ("cuStreamSynchronize_ptsz", "hipStreamSynchronize_spt", stream),
    ("cuCtxSynchronize", "hipDeviceSynchronize"),
    ("cuCtxSynchronize_v2", None, None),
)):  # fmt: skip
    call(name, *waited_for)
plain(prefixed("EventCreate"), byref(event), c_uint(0))
call(prefixed("EventSynchronize"), event)
call(prefixed("MemPoolSetAttribute"), pool, c_int(4), byref(c_uint64(1 << 30)))
call(prefixed("MemPoolTrimTo"), pool, c_size_t(0))
call(prefixed("DeviceSetMemPool"), c_int(1), pool)
if IS_CUDA:
    call("cuMemSetMemPool", at_gpu_1, c_int(1), pool)
call(prefixed("MemPoolDestroy"), pool)
for name, *of_device in having((
    ("cuDeviceGetDefaultMemPool", "hipDeviceGetDefaultMemPool", c_int(1)),
    ("cuDeviceGetMemPool", "hipDeviceGetMemPool", c_int(1)),
    ("cuMemGetDefaultMemPool", None, at_gpu_1, c_int(1)),
    ("cuMemGetMemPool", "hipMemGetMemPool", at_gpu_1, c_int(1)),
)):  # fmt: skip
    call(name, byref(other_pool), *of_device)
    block(ALLOC_FROM_POOL, 7000, other_pool, None, heap=GPU_1)

# Physical memory apart from addresses: a handle under two addresses, released first; one that is retained
reserved, handle, retained, shared_file = c_uint64(), c_uint64(), c_uint64(), c_int()
call(prefixed("MemAddressReserve"), byref(reserved), c_size_t(8 * MIB), c_size_t(0), c_uint64(0), c_uint64(0))
row("reserve", heap=GPU_0, address=reserved.value, size_bytes=8 * MIB)
call(prefixed("MemCreate"), byref(handle), c_size_t(2 * MIB), on_gpu_1, c_uint64(0))
row("physical_create", heap=GPU_1, handle=handle.value, size_bytes=2 * MIB)
for offset in (0, 2 * MIB):
    call(prefixed("MemMap"), c_uint64(reserved.value + offset), c_size_t(2 * MIB), c_size_t(0), handle, c_uint64(0))
    row("map", heap=GPU_1, address=reserved.value + offset, size_bytes=2 * MIB, handle=handle.value, offset_bytes=0)
call(prefixed("MemExportToShareableHandle"), byref(shared_file), handle, c_int(1), c_uint64(0))
row("physical_export", handle=handle.value)
call(prefixed("MemRetainAllocationHandle"), byref(retained), c_void_p(reserved.value))
row("physical_import", handle=handle.value, size_bytes=2 * MIB)
for _ in range(2):
    call(prefixed("MemRelease"), handle)
    row("physical_release", handle=handle.value)
call(prefixed("MemUnmap"), c_uint64(reserved.value), c_size_t(4 * MIB))  # Both at once.
for offset in (0, 2 * MIB):
    row("unmap", heap=GPU_1, address=reserved.value + offset, size_bytes=2 * MIB)
# The size of an import is reported with its first mapping, which in HIP is of the whole.
mapped, offset = of((MIB, MIB), (2 * MIB, 0))
call(prefixed("MemImportFromShareableHandle"), byref(handle), c_void_p(shared_file.value), c_int(1))
call(prefixed("MemMap"), reserved, c_size_t(mapped), c_size_t(offset), handle, c_uint64(0))
row("physical_import", heap=GPU_0, handle=handle.value, size_bytes=2 * MIB)
row("map", heap=GPU_0, address=reserved.value, size_bytes=mapped, handle=handle.value, offset_bytes=offset)
call(prefixed("MemUnmap"), reserved, c_size_t(mapped))
row("unmap", heap=GPU_0, address=reserved.value, size_bytes=mapped)
call(prefixed("MemRelease"), handle)
row("physical_release", handle=handle.value)
if IS_CUDA:  # A multicast object owns nothing.
    call("cuMulticastCreate", byref(handle), struct.pack("I4xQQQ", 2, 2 * MIB, 0, 0))
    call("cuMemMap", reserved, c_size_t(MIB), c_size_t(0), handle, c_uint64(0))
    call("cuMemUnmap", reserved, c_size_t(MIB))
    call("cuMemRelease", handle)
call(prefixed("MemAddressFree"), reserved, c_size_t(8 * MIB))
row("unreserve", heap=GPU_0, address=reserved.value, size_bytes=8 * MIB)

# Arrays: of 32-bit floats, or of pairs of them
FLOAT, BYTE, LAYERED = 0x20, 1, 1
ONE, TWO = struct.pack("iiiii", 32, 0, 0, 0, 2), struct.pack("iiiii", 32, 32, 0, 0, 2)
MIPMAPPED_BYTES = (8 * 4 + 4 * 2 + 2 + 1) * 4
array, destroy_array = c_void_p(), of("cuArrayDestroy", "hipFreeArray")
for name, size, destroy, *description in having((
    ("cuArrayCreate", None, 100 * 10 * 8, destroy_array, struct.pack("IIII", 100, 10, FLOAT, 2)),
    ("cuArrayCreate_v2", "hipArrayCreate", 100 * 4, prefixed("ArrayDestroy"), struct.pack("QQII", 100, 0, BYTE, 4)),
    ("cuArray3DCreate", None, 8 * 8 * 8 * 4, destroy_array, struct.pack("IIIIII", 8, 8, 8, FLOAT, 1, 0)),
    ("cuArray3DCreate_v2", "hipArray3DCreate", 8 * 8 * 3 * 4, destroy_array, struct.pack("QQQIII", 8, 8, 3, FLOAT, 1, LAYERED)),
    (None, "hipMallocArray", 100 * 10 * 8, destroy_array, TWO, c_size_t(100), c_size_t(10), c_uint(0)),
    (None, "hipMalloc3DArray", 8 * 8 * 8 * 4, destroy_array, ONE, Extent(8, 8, 8), c_uint(0)),
    ("cuMipmappedArrayCreate", "hipMipmappedArrayCreate", MIPMAPPED_BYTES, prefixed("MipmappedArrayDestroy"), struct.pack("QQQIII4x", 8, 4, 0, FLOAT, 1, 0), c_uint(9)),
    (None, "hipMallocMipmappedArray", MIPMAPPED_BYTES, "hipFreeMipmappedArray", ONE, Extent(8, 4, 0), c_uint(9), c_uint(0)),
)):  # fmt: skip
    call(name, byref(array), *description)
    took(name, GPU_0, None, size)
    call(destroy, array)
    gave(GPU_0, None, size)

# The host's
for name, size, free in having((
    ("cuMemAllocHost", "hipHostMalloc", 11, of("cuMemFreeHost", "hipHostFree")),
    ("cuMemAllocHost_v2", "hipHostAlloc", 12, of("cuMemFreeHost", "hipFreeHost")),
    ("cuMemHostAlloc", "hipMallocHost", 13, of("cuMemFreeHost", "hipFreeHost")),
    ("cuMemHostAlloc_v2", "hipMemAllocHost", 14, of("cuMemFreeHost", "hipFree")),
)):  # fmt: skip
    block(name, size, c_uint(0), heap=HOST, free=free)
mine = ctypes.create_string_buffer(4096)
for (name,) in having((("cuMemHostRegister", None), ("cuMemHostRegister_v2", "hipHostRegister"))):
    call(name, mine, c_size_t(4096), c_uint(0))
    took(name, HOST, ctypes.addressof(mine), 4096)
    call(of("cuMemHostUnregister", "hipHostUnregister"), mine)
    gave(HOST, ctypes.addressof(mine), 4096)


# Other processes' memory and other libraries': it is mapped here, and counted there.
class IpcHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def foreign(name, *arguments, free=FREE):
    call(name, byref(at), *arguments)
    if IS_REPORTED_BY_CUPTI:
        call(free, at)
        return
    row("physical_import", heap=GPU_0, handle=at.value, size_bytes=MIB)
    row("map", heap=GPU_0, address=at.value, size_bytes=MIB, handle=at.value)
    call(free, at)
    row("unmap", heap=GPU_0, address=at.value, size_bytes=MIB)
    row("physical_release", handle=at.value)


ipc, exported = IpcHandle(), ctypes.create_string_buffer(64)
for allocate, more, free, share, shared in (
    (ALLOC, (), FREE, prefixed("IpcGetMemHandle"), byref(ipc)), (ALLOC_ASYNC, (None,), FREE_ASYNC, prefixed("MemPoolExportPointer"), exported),
):  # fmt: skip
    call(allocate, byref(at), c_size_t(MIB), *more)
    took(allocate, GPU_0, at.value, MIB)
    call(share, shared, at)
    row("attribute", key="shared with another process by", text=share)
    call(free, at, *more)
    gave(GPU_0, at.value, MIB)
for (name,) in having((("cuIpcOpenMemHandle", "hipIpcOpenMemHandle"), ("cuIpcOpenMemHandle_v2", None))):
    foreign(name, ipc, c_uint(1), free=prefixed("IpcCloseMemHandle"))
foreign(prefixed("MemPoolImportPointer"), pool, exported)
external = c_void_p()
call(prefixed("ImportExternalMemory"), byref(external), struct.pack("i4x16xQ68x", 1, 4 * MIB))
row("physical_import", heap=GPU_0, handle=external.value, size_bytes=4 * MIB)
call(prefixed("ExternalMemoryGetMappedBuffer"), byref(at), external, struct.pack("QQ68x", 4096, MIB))
row("map", heap=GPU_0, address=at.value, size_bytes=MIB, handle=external.value, offset_bytes=4096)
if IS_CUDA:
    call("cuExternalMemoryGetMappedMipmappedArray", byref(array), external, struct.pack("QQQQIIII64x", 0, 64, 64, 0, FLOAT, 1, 0, 1))
    call("cuMipmappedArrayDestroy", array)
call(FREE, at)
row("unmap", heap=GPU_0, address=at.value, size_bytes=MIB)
call(prefixed("DestroyExternalMemory"), external)
row("physical_release", handle=external.value)

# Graphs: the memory of their nodes is held from the first upload or launch on, and reported as handles of the device,
# one more at each growth
GRAPH_HANDLES = 0xFFFFFFFE00000000
MEM_ALLOC, KERNEL = 10, 0
graph, node, executables, growths = c_void_p(), c_void_p(), [], 0


def grown_for_graphs(size):
    global growths
    row("physical_create", heap=GPU_0, handle=GRAPH_HANDLES + growths, size_bytes=size)
    growths += 1


def allocation_node(size):
    return struct.pack("iiii", 1, 0, 1, 0) + bytes(88) + struct.pack("QQ", size, 0)


def instantiated():
    executables.append(c_void_p())
    plain(prefixed("GraphInstantiateWithFlags"), byref(executables[-1]), graph, c_uint64(0))
    return executables[-1]


plain(prefixed("GraphCreate"), byref(graph), c_uint(0))
if IS_CUDA:
    call("cuGraphAddNode", byref(node), graph, None, c_size_t(0), ctypes.create_string_buffer(struct.pack("i12x", KERNEL) + bytes(240)))
call(prefixed("GraphLaunch"), instantiated(), stream)
call(prefixed("GraphAddMemAllocNode"), byref(node), graph, None, c_size_t(0), allocation_node(3 * MIB))
for (name,) in having((("cuGraphUpload", "hipGraphUpload"), ("cuGraphUpload_ptsz", None))):
    call(name, instantiated(), stream)
grown_for_graphs(3 * MIB)
for name, dependencies, launch, on in having((
    ("cuGraphAddNode", "hipGraphAddNode", (None,), of("cuGraphLaunch", "hipGraphLaunch_spt"), stream),
    ("cuGraphAddNode_v2", None, (None, None), "cuGraphLaunch_ptsz", None),
    ("cuGraphAddNode_v3", None, (None, None), "cuGraphLaunch", stream),
)):  # fmt: skip
    call(name, byref(node), graph, *dependencies, c_size_t(0), struct.pack("i12x", MEM_ALLOC) + allocation_node(MIB) + bytes(120))
    call(launch, instantiated(), on)
    grown_for_graphs(MIB)

# Memory allocated on a stream that is being captured belongs to its graph, if the driver can be queried for the capture
to_graph = (graph, None, None, c_size_t(0), c_int(0))
for capture, name, on, *more in having((
    ("cuStreamBeginCapture", None, ALLOC_ASYNC, stream),
    ("cuStreamBeginCapture_v2", "hipStreamBeginCapture", ALLOC_ASYNC, stream, c_int(0)),
    ("cuStreamBeginCapture_ptsz", None, "cuMemAllocAsync_ptsz", None),
    ("cuStreamBeginCapture_v2_ptsz", "hipStreamBeginCapture_spt", of("cuMemAllocAsync_ptsz", ALLOC_ASYNC), of(None, stream), c_int(0)),
    ("cuStreamBeginCaptureToGraph", "hipStreamBeginCaptureToGraph", ALLOC_ASYNC, stream, *to_graph),
    ("cuStreamBeginCaptureToGraph_ptsz", None, "cuMemAllocAsync_ptsz", None, *to_graph),
)):  # fmt: skip
    call(capture, on, *more)
    call(name, byref(at), c_size_t(700), on)
    if IS_REPORTED_BY_CUPTI:
        took(name, GPU_0, at.value, 700, stream=1 if on else 0)
    call(FREE_ASYNC, at, on)
    if IS_REPORTED_BY_CUPTI:
        gave(GPU_0, at.value, 700)
    plain(prefixed("StreamEndCapture"), on, byref(c_void_p()))
    block(name, 800, on, stream=1 if on else 0, free=FREE_ASYNC, free_rest=(on,))

for executable in executables:
    call(prefixed("GraphExecDestroy"), executable)
call(prefixed("DeviceGraphMemTrim"), c_int(0))
for number in range(growths):
    row("physical_release", handle=GRAPH_HANDLES + number)


# Variables of code are reported when they are first requested; they end with their module.
CODE = code_with_variables(b"unsized", b"table", b"weights", b"scale", b"shared")
GET_VARIABLE = of("cuModuleGetGlobal_v2", "hipModuleGetGlobal")
module, loaded_library, size = c_void_p(), c_void_p(), c_size_t()
use(1)


def variable(name, of_code, symbol, heap=GPU_1, is_first=True):
    at = c_uint64()  # 32 bits of it for cuModuleGetGlobal.
    call(name, byref(at), byref(size), of_code, symbol)
    if is_first:
        took(name, heap, at.value, len(symbol))
        row("attribute", key="variable", text=symbol.decode())
    return heap, at.value, len(symbol)


plain(prefixed("ModuleLoadData"), byref(module), CODE)
if IS_CUDA:
    call("cuModuleGetGlobal_v2", byref(at), None, module, b"unsized")
table = variable(of("cuModuleGetGlobal", GET_VARIABLE), module, b"table")
weights = variable(GET_VARIABLE, module, b"weights")
variable(GET_VARIABLE, module, b"weights", is_first=False)
call(prefixed("ModuleUnload"), module)
gave(*weights)
gave(*table)
if IS_CUDA:
    plain("cuLibraryLoadData", byref(loaded_library), CODE, None, None, c_uint(0), None, None, c_uint(0))
    scale = variable("cuLibraryGetGlobal", loaded_library, b"scale")
    shared = variable("cuLibraryGetManaged", loaded_library, b"shared", heap=MANAGED)
    call("cuLibraryUnload", loaded_library)
    gave(*shared)
    gave(*scale)


def allocate_in_context():
    """What ends with a context of CUDA, in this order, and a block of a pool, which has no owner."""
    blocks = []
    for name, size, more, heap in ((ALLOC, 100, (), GPU_1), (ALLOC_MANAGED, 200, (c_uint(1),), MANAGED), ("cuMemHostAlloc_v2", 300, (c_uint(0),), HOST)):
        call(name, byref(at), c_size_t(size), *more)
        took(name, heap, at.value, size)
        blocks.append((heap, at.value, size))
    call("cuArrayCreate_v2", byref(array), struct.pack("QQII", 100, 0, BYTE, 4))
    took("cuArrayCreate_v2", GPU_1, None, 400)
    blocks.append((GPU_1, None, 400))
    call(ALLOC_ASYNC, byref(at), c_size_t(500), None)
    took(ALLOC_ASYNC, GPU_1, at.value, 500)
    return blocks, c_uint64(at.value)


def context_ends(name, argument, is_reported=True):
    blocks, of_pool = allocate_in_context()
    call(name, argument)
    for gone in reversed(blocks) if is_reported else ():
        gave(*gone)
    if not is_reported:
        stale.update({at: (heap, at, size) for heap, at, size in blocks if at is not None})
    use(1)
    call(FREE_ASYNC, of_pool, None)
    gave(GPU_1, of_pool.value, 500)


def contexts_end():
    context, primary = c_void_p(), c_void_p()
    for create, end in (("cuCtxCreate", "cuCtxDestroy"), ("cuCtxCreate_v2", "cuCtxDestroy_v2")):
        plain(create, byref(context), c_uint(0), c_int(1))
        context_ends(end, context)
    plain("cuCtxCreate_v2", byref(context), c_uint(0), c_int(1))
    call("cuCtxAttach", byref(context), c_uint(0))
    call("cuCtxDetach", context)  # It is still used once.
    context_ends("cuCtxDetach", context)
    plain("cuCtxCreate_v2", byref(context), c_uint(0), c_int(1))
    plain("cuModuleLoadData", byref(module), CODE)
    of_context = variable(GET_VARIABLE, module, b"weights")
    call("cuCtxDestroy_v2", context)
    gave(*of_context)
    retain = lambda: call("cuDevicePrimaryCtxRetain", byref(primary), c_int(1))
    retain()
    retain()
    call("cuDevicePrimaryCtxRelease", c_int(1))  # Somebody else still uses it.
    context_ends("cuDevicePrimaryCtxReset", c_int(1))
    retain()
    context_ends("cuDevicePrimaryCtxReset_v2", c_int(1))
    retain()
    call("cuDevicePrimaryCtxRelease_v2", c_int(1))
    call("cuDevicePrimaryCtxRelease_v2", c_int(1))
    # CUPTI's callbacks may not ask whether it is still used: there its blocks stay.
    context_ends("cuDevicePrimaryCtxRelease_v2", c_int(1), is_reported=not IS_REPORTED_BY_CUPTI)


def device_is_reset():
    """A reset of HIP ends what is on the thread's device, pools included, and neither pinned nor managed memory."""
    plain("hipModuleLoadData", byref(module), CODE)
    call("hipMemPoolCreate", byref(pool), on_gpu_1)
    kept, ended = [], []
    for name, heap, of_fate, *more in (
        ("hipHostMalloc", HOST, kept, c_uint(0)), (ALLOC_MANAGED, MANAGED, kept, c_uint(1)), (ALLOC, GPU_1, ended), (ALLOC_ASYNC, GPU_1, ended, None), (ALLOC_FROM_POOL, GPU_1, ended, pool, None),
    ):  # fmt: skip
        call(name, byref(at), c_size_t(900), *more)
        took(name, heap, at.value, 900)
        of_fate.append((heap, at.value, 900))
    of_module = variable(GET_VARIABLE, module, b"table")
    use(0)
    call(ALLOC, byref(at), c_size_t(901))
    took(ALLOC, GPU_0, at.value, 901)
    use(1)
    call("hipDeviceReset")
    gave(*of_module)
    for gone in reversed(ended):
        gave(*gone)
    block(ALLOC_ASYNC, 902, None, heap=GPU_1, free=FREE_ASYNC, free_rest=(None,))
    call(FREE, at)
    gave(GPU_0, at.value, 901)
    for heap, address, size in kept:
        call("hipHostFree", c_uint64(address))
        gave(heap, address, size)


contexts_end() if IS_CUDA else device_is_reset()
print(json.dumps({"rows": rows, "called": called}))
