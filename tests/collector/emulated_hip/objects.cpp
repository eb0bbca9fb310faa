// What the emulated CUDA device has under almost the same name.
#include "tests/collector/emulated_hip/wrapped.h"

extern "C" {
hbmscope::cuda::Result cuMemPoolGetAttribute(void* pool, int attribute, void* value);
hbmscope::cuda::Result cuStreamEndCapture(void* stream, void** out);
}

namespace emulated_hip {

#define PASSED(...) __VA_ARGS__
#define SAME(name, cuda, parameters, arguments) \
  Result behind::name parameters {              \
    return cuda(PASSED arguments);              \
  }

SAME(hipStreamCreateWithFlags, emulated_cuStreamCreate, (Object * out, unsigned flags), (out, flags))
SAME(hipStreamCreateWithPriority, emulated_cuStreamCreateWithPriority, (Object * out, unsigned flags, int priority),
     (out, flags, priority))
SAME(hipStreamCreate, emulated_cuStreamCreate, (Object * out), (out, 0))
SAME(hipExtStreamCreateWithCUMask, emulated_cuStreamCreate, (Object * out, unsigned, const unsigned*), (out, 0))
SAME(hipStreamDestroy, emulated_cuStreamDestroy_v2, (Object stream), (stream))
SAME(hipStreamSynchronize, emulated_cuStreamSynchronize, (Object stream), (stream))
SAME(hipStreamSynchronize_spt, emulated_cuStreamSynchronize, (Object stream), (stream))
SAME(hipDeviceSynchronize, emulated_cuCtxSynchronize, (), ())
SAME(hipEventCreate, emulated_cuEventCreate, (Object * out), (out, 0))
SAME(hipEventSynchronize, emulated_cuEventSynchronize, (Object event), (event))

SAME(hipDeviceGetDefaultMemPool, emulated_cuDeviceGetDefaultMemPool, (Object * out, Device device), (out, device))
SAME(hipDeviceGetMemPool, emulated_cuDeviceGetMemPool, (Object * out, Device device), (out, device))
SAME(hipMemGetMemPool, emulated_cuDeviceGetMemPool, (Object * out, const Location* location, int), (out, location->id))
SAME(hipDeviceSetMemPool, emulated_cuDeviceSetMemPool, (Device device, Object pool), (device, pool))
SAME(hipMemPoolTrimTo, emulated_cuMemPoolTrimTo, (Object pool, Size kept), (pool, kept))
SAME(hipMemPoolSetAttribute, emulated_cuMemPoolSetAttribute, (Object pool, int attribute, void* value),
     (pool, attribute, value))
SAME(hipMemPoolImportPointer, emulated_cuMemPoolImportPointer, (Address * out, Object pool, void* data),
     (out, pool, data))
SAME(hipMemPoolExportPointer, emulated_cuMemPoolExportPointer, (void* data, Address at), (data, at))

SAME(hipMemAddressReserve, emulated_cuMemAddressReserve,
     (Address * out, Size bytes, Size alignment, Address wanted, Flags flags), (out, bytes, alignment, wanted, flags))
SAME(hipMemAddressFree, emulated_cuMemAddressFree, (Address at, Size bytes), (at, bytes))
SAME(hipMemCreate, emulated_cuMemCreate,
     (MemHandle * out, Size bytes, const AllocationProperties* properties, Flags flags),
     (out, bytes, properties, flags))
SAME(hipMemRelease, emulated_cuMemRelease, (MemHandle handle), (handle))
SAME(hipMemRetainAllocationHandle, emulated_cuMemRetainAllocationHandle, (MemHandle * out, void* at), (out, at))
SAME(hipMemMap, emulated_cuMemMap, (Address at, Size bytes, Size, MemHandle handle, Flags flags),
     (at, bytes, 0, handle, flags))
SAME(hipMemUnmap, emulated_cuMemUnmap, (Address at, Size bytes), (at, bytes))
SAME(hipMemSetAccess, emulated_cuMemSetAccess, (Address at, Size bytes, const void* access, Size count),
     (at, bytes, access, count))
SAME(hipMemExportToShareableHandle, emulated_cuMemExportToShareableHandle,
     (void* out, MemHandle handle, int type, Flags flags), (out, handle, type, flags))
SAME(hipMemImportFromShareableHandle, emulated_cuMemImportFromShareableHandle,
     (MemHandle * out, void* shared, int type), (out, shared, type))

SAME(hipArrayCreate, emulated_cuArrayCreate_v2, (Object * out, const ArrayDescriptor<Size>* array), (out, array))
SAME(hipArray3DCreate, emulated_cuArray3DCreate_v2, (Object * out, const Array3dDescriptor<Size>* array), (out, array))
SAME(hipMipmappedArrayCreate, emulated_cuMipmappedArrayCreate,
     (Object * out, const Array3dDescriptor<Size>* array, unsigned levels), (out, array, levels))
SAME(hipArrayDestroy, emulated_cuArrayDestroy, (Object array), (array))
SAME(hipFreeArray, emulated_cuArrayDestroy, (Object array), (array))
SAME(hipMipmappedArrayDestroy, emulated_cuMipmappedArrayDestroy, (Object array), (array))
SAME(hipFreeMipmappedArray, emulated_cuMipmappedArrayDestroy, (Object array), (array))

// Of 32-bit channels.
static Array3dDescriptor<Size> described(const ChannelFormat& format, const Extent& extent, unsigned flags) {
  constexpr unsigned of_floats = 0x20;
  unsigned channels = 0;
  for (const int bits : format.bits) channels += bits != 0 ? 1 : 0;
  return {extent.width, extent.height, extent.depth, of_floats, channels, flags};
}
Result behind::hipMalloc3DArray(Object* out, const ChannelFormat* format, Extent extent, unsigned flags) {
  const auto array = described(*format, extent, flags);
  return emulated_cuArray3DCreate_v2(out, &array);
}
Result behind::hipMallocArray(Object* out, const ChannelFormat* format, Size width, Size height, unsigned flags) {
  return behind::hipMalloc3DArray(out, format, {width, height, 0}, flags);
}
Result behind::hipMallocMipmappedArray(Object* out, const ChannelFormat* format, Extent extent, unsigned levels,
                                       unsigned flags) {
  const auto array = described(*format, extent, flags);
  return emulated_cuMipmappedArrayCreate(out, &array, levels);
}

SAME(hipIpcGetMemHandle, emulated_cuIpcGetMemHandle, (IpcHandle * out, Address at), (out, at))
SAME(hipIpcOpenMemHandle, emulated_cuIpcOpenMemHandle_v2, (Address * out, IpcHandle handle, unsigned flags),
     (out, handle, flags))
SAME(hipIpcCloseMemHandle, emulated_cuIpcCloseMemHandle, (Address at), (at))
SAME(hipImportExternalMemory, emulated_cuImportExternalMemory, (Object * out, const ExternalMemoryDescriptor* memory),
     (out, memory))
SAME(hipExternalMemoryGetMappedBuffer, emulated_cuExternalMemoryGetMappedBuffer,
     (Address * out, Object memory, const ExternalBufferDescriptor* buffer), (out, memory, buffer))
SAME(hipDestroyExternalMemory, emulated_cuDestroyExternalMemory, (Object memory), (memory))

SAME(hipGraphCreate, emulated_cuGraphCreate, (Object * out, unsigned flags), (out, flags))
SAME(hipGraphAddMemAllocNode, emulated_cuGraphAddMemAllocNode,
     (Object * out, Object graph, const Object* before, Size count, void* node), (out, graph, before, count, node))
SAME(hipGraphAddNode, emulated_cuGraphAddNode,
     (Object * out, Object graph, const Object* before, Size count, void* node), (out, graph, before, count, node))
SAME(hipGraphInstantiateWithFlags, emulated_cuGraphInstantiateWithFlags, (Object * out, Object graph, Flags flags),
     (out, graph, flags))
SAME(hipGraphUpload, emulated_cuGraphUpload, (Object graph, Object stream), (graph, stream))
SAME(hipGraphLaunch, emulated_cuGraphLaunch, (Object graph, Object stream), (graph, stream))
SAME(hipGraphLaunch_spt, emulated_cuGraphLaunch, (Object graph, Object stream), (graph, stream))
SAME(hipGraphExecDestroy, emulated_cuGraphExecDestroy, (Object graph), (graph))
SAME(hipDeviceGraphMemTrim, emulated_cuDeviceGraphMemTrim, (Device device), (device))
SAME(hipStreamBeginCapture, emulated_cuStreamBeginCapture_v2, (Object stream, int mode), (stream, mode))
SAME(hipStreamBeginCapture_spt, emulated_cuStreamBeginCapture_v2, (Object stream, int mode), (stream, mode))
SAME(hipStreamBeginCaptureToGraph, emulated_cuStreamBeginCaptureToGraph,
     (Object stream, Object graph, void* before, void* edges, Size count, int mode),
     (stream, graph, before, edges, count, mode))
SAME(hipStreamEndCapture, ::cuStreamEndCapture, (Object stream, Object* out), (stream, out))

SAME(hipModuleLoadData, emulated_cuModuleLoadData, (Object * out, const void* image), (out, image))
SAME(hipModuleGetGlobal, emulated_cuModuleGetGlobal_v2, (Address * out, Size* bytes, Object module, const char* name),
     (out, bytes, module, name))
SAME(hipModuleUnload, emulated_cuModuleUnload, (Object module), (module))

// Not in the collector's table: what it asks.
#define ASKED(name, cuda, parameters, arguments) \
  EXPORTED Result name parameters {              \
    use_device();                                \
    return noted(cuda(PASSED arguments));        \
  }
ASKED(hipMemGetInfo, emulated_cuMemGetInfo_v2, (Size * free, Size* total), (free, total))
ASKED(hipMemGetAddressRange, emulated_cuMemGetAddressRange_v2, (Address * base, Size* bytes, Address at),
      (base, bytes, at))
ASKED(hipMemGetAllocationGranularity, emulated_cuMemGetAllocationGranularity,
      (Size * bytes, const AllocationProperties* properties, int option), (bytes, properties, option))
ASKED(hipStreamIsCapturing, emulated_cuStreamIsCapturing, (Object stream, int* status), (stream, status))
ASKED(hipMemPoolGetAttribute, ::cuMemPoolGetAttribute, (Object pool, int attribute, void* value),
      (pool, attribute, value))
ASKED(hipDeviceGetGraphMemAttribute, emulated_cuDeviceGetGraphMemAttribute,
      (Device device, int attribute, std::uint64_t* value), (device, attribute, value))

}  // namespace emulated_hip
