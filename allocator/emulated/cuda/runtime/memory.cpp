// Memory, copies and pools.
#include <cstring>

#include "allocator/emulated/cuda/runtime/driver_calls.h"

using namespace hbmscope::device::runtime;

namespace {

Address pointer_from(const void* at) {
  return reinterpret_cast<Address>(at);
}
Address* pointer_from(void** at) {
  return reinterpret_cast<Address*>(at);
}

struct PointerAttributes {  // cudaPointerAttributes
  int type;                 // 0 not registered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
#if HBMSCOPE_CUDA_MAJOR >= 13
  long reserved[8];
#endif
};

Copy2d copy_of_rows(void* to, Size to_pitch, const void* from, Size from_pitch, Size width, Size height) {
  Copy2d copy{};
  // All addresses are in one space: "device" also reaches memory of the host.
  copy.source_type = copy.target_type = memory_type_device;
  copy.source_device = pointer_from(from);
  copy.source_pitch = from_pitch;
  copy.target_device = pointer_from(to);
  copy.target_pitch = to_pitch;
  copy.width = width;
  copy.height = height;
  return copy;
}

}  // namespace

HBMSCOPE_EXPORTED Error cudaMemGetInfo(Size* free, Size* total) {
  return keep(driver_with_context().cuMemGetInfo(free, total));
}
// A request for no bytes gives null, unlike the driver's.
HBMSCOPE_EXPORTED Error cudaMalloc(void** out, Size bytes) {
  *out = nullptr;
  const DriverCalls& driver = driver_with_context();
  return bytes == 0 ? success : keep(driver.cuMemAlloc(pointer_from(out), bytes));
}
HBMSCOPE_EXPORTED Error cudaMallocPitch(void** out, Size* pitch, Size width, Size height) {
  return keep(driver_with_context().cuMemAllocPitch(pointer_from(out), pitch, width, height, 4));
}
HBMSCOPE_EXPORTED Error cudaMallocManaged(void** out, Size bytes, unsigned flags) {
  return keep(driver_with_context().cuMemAllocManaged(pointer_from(out), bytes, flags));
}
HBMSCOPE_EXPORTED Error cudaFree(void* at) {
  return keep(driver_with_context().cuMemFree(pointer_from(at)));
}
HBMSCOPE_EXPORTED Error cudaHostAlloc(void** out, Size bytes, unsigned flags) {
  *out = nullptr;
  const DriverCalls& driver = driver_with_context();
  return bytes == 0 ? success : keep(driver.cuMemHostAlloc(out, bytes, flags));
}
HBMSCOPE_EXPORTED Error cudaMallocHost(void** out, Size bytes) {
  return cudaHostAlloc(out, bytes, 0);
}
HBMSCOPE_EXPORTED Error cudaFreeHost(void* at) {
  return at == nullptr ? success : keep(driver_with_context().cuMemFreeHost(at));
}
HBMSCOPE_EXPORTED Error cudaHostRegister(void* at, Size bytes, unsigned flags) {
  return keep(driver_with_context().cuMemHostRegister(at, bytes, flags));
}
HBMSCOPE_EXPORTED Error cudaHostUnregister(void* at) {
  return keep(driver_with_context().cuMemHostUnregister(at));
}
HBMSCOPE_EXPORTED Error cudaHostGetDevicePointer(void** out, void* at, unsigned flags) {
  return keep(driver_with_context().cuMemHostGetDevicePointer(pointer_from(out), at, flags));
}

HBMSCOPE_EXPORTED Error cudaPointerGetAttributes(PointerAttributes* out, const void* at) {
  std::memset(out, 0, sizeof(*out));
  // MEMORY_TYPE, DEVICE_ORDINAL, IS_MANAGED
  const int attributes[] = {2, 9, 8};
  unsigned memory_type = 0, is_managed = 0;
  int device = -1;
  void* values[] = {&memory_type, &device, &is_managed};
  const Error error = driver_with_context().cuPointerGetAttributes(3, attributes, values, pointer_from(at));
  void* pointer = const_cast<void*>(at);
  out->device = device;
  if (memory_type == 0) {
    out->host_pointer = pointer;
    return keep(error);
  }
  const bool is_host = memory_type == memory_type_host;
  out->type = is_managed != 0 ? 3 : is_host ? 1 : 2;
  out->device_pointer = pointer;
  out->host_pointer = is_host || is_managed != 0 ? pointer : nullptr;
  return keep(error);
}

HBMSCOPE_EXPORTED Error cudaIpcGetMemHandle(IpcHandle* out, void* at) {
  return keep(driver_with_context().cuIpcGetMemHandle(out, pointer_from(at)));
}
HBMSCOPE_EXPORTED Error cudaIpcOpenMemHandle(void** out, IpcHandle handle, unsigned flags) {
  return keep(driver_with_context().cuIpcOpenMemHandle(pointer_from(out), handle, flags));
}
HBMSCOPE_EXPORTED Error cudaIpcCloseMemHandle(void* at) {
  return keep(driver_with_context().cuIpcCloseMemHandle(pointer_from(at)));
}

HBMSCOPE_EXPORTED Error cudaMemcpy(void* to, const void* from, Size bytes, int) {
  return keep(driver_with_context().cuMemcpy(pointer_from(to), pointer_from(from), bytes));
}
HBMSCOPE_EXPORTED Error cudaMemcpyAsync(void* to, const void* from, Size bytes, int, Object stream) {
  return keep(driver_with_context().cuMemcpyAsync(pointer_from(to), pointer_from(from), bytes, stream));
}
HBMSCOPE_EXPORTED Error cudaMemcpyPeer(void* to, int, const void* from, int, Size bytes) {
  return cudaMemcpy(to, from, bytes, 0);
}
HBMSCOPE_EXPORTED Error cudaMemcpyPeerAsync(void* to, int, const void* from, int, Size bytes, Object stream) {
  return cudaMemcpyAsync(to, from, bytes, 0, stream);
}
HBMSCOPE_EXPORTED Error cudaMemcpy2D(void* to, Size to_pitch, const void* from, Size from_pitch, Size width,
                                     Size height, int) {
  const Copy2d copy = copy_of_rows(to, to_pitch, from, from_pitch, width, height);
  return keep(driver_with_context().cuMemcpy2D(&copy));
}
HBMSCOPE_EXPORTED Error cudaMemcpy2DAsync(void* to, Size to_pitch, const void* from, Size from_pitch, Size width,
                                          Size height, int, Object stream) {
  const Copy2d copy = copy_of_rows(to, to_pitch, from, from_pitch, width, height);
  return keep(driver_with_context().cuMemcpy2DAsync(&copy, stream));
}
HBMSCOPE_EXPORTED Error cudaMemset(void* to, int value, Size bytes) {
  return keep(driver_with_context().cuMemsetD8(pointer_from(to), static_cast<unsigned char>(value), bytes));
}
HBMSCOPE_EXPORTED Error cudaMemsetAsync(void* to, int value, Size bytes, Object stream) {
  return keep(
      driver_with_context().cuMemsetD8Async(pointer_from(to), static_cast<unsigned char>(value), bytes, stream));
}
HBMSCOPE_EXPORTED Error cudaMemset2DAsync(void* to, Size pitch, int value, Size width, Size height, Object stream) {
  return keep(driver_with_context().cuMemsetD2D8Async(pointer_from(to), pitch, static_cast<unsigned char>(value), width,
                                                      height, stream));
}

HBMSCOPE_EXPORTED Error cudaMallocAsync(void** out, Size bytes, Object stream) {
  *out = nullptr;
  const DriverCalls& driver = driver_with_context();
  return bytes == 0 ? success : keep(driver.cuMemAllocAsync(pointer_from(out), bytes, stream));
}
HBMSCOPE_EXPORTED Error cudaMallocFromPoolAsync(void** out, Size bytes, Object pool, Object stream) {
  return keep(driver_with_context().cuMemAllocFromPoolAsync(pointer_from(out), bytes, pool, stream));
}
HBMSCOPE_EXPORTED Error cudaFreeAsync(void* at, Object stream) {
  return keep(driver_with_context().cuMemFreeAsync(pointer_from(at), stream));
}
HBMSCOPE_EXPORTED Error cudaMemPoolCreate(Object* out, const PoolProperties* properties) {
  return keep(driver_with_context().cuMemPoolCreate(out, properties));
}
HBMSCOPE_EXPORTED Error cudaMemPoolDestroy(Object pool) {
  return keep(driver_with_context().cuMemPoolDestroy(pool));
}
HBMSCOPE_EXPORTED Error cudaMemPoolTrimTo(Object pool, Size kept_bytes) {
  return keep(driver_with_context().cuMemPoolTrimTo(pool, kept_bytes));
}
HBMSCOPE_EXPORTED Error cudaMemPoolSetAttribute(Object pool, int attribute, void* value) {
  return keep(driver_with_context().cuMemPoolSetAttribute(pool, attribute, value));
}
HBMSCOPE_EXPORTED Error cudaMemPoolGetAttribute(Object pool, int attribute, void* value) {
  return keep(driver_with_context().cuMemPoolGetAttribute(pool, attribute, value));
}
HBMSCOPE_EXPORTED Error cudaDeviceGetDefaultMemPool(Object* out, int device) {
  return keep(driver_with_context().cuDeviceGetDefaultMemPool(out, device));
}
HBMSCOPE_EXPORTED Error cudaDeviceGetMemPool(Object* out, int device) {
  return keep(driver_with_context().cuDeviceGetMemPool(out, device));
}
HBMSCOPE_EXPORTED Error cudaDeviceSetMemPool(int device, Object pool) {
  return keep(driver_with_context().cuDeviceSetMemPool(device, pool));
}
