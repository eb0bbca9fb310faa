// Memory, on the emulated CUDA device. Pinned and managed memory is the process' own, because it outlives a reset.
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "tests/collector/emulated_hip/wrapped.h"

namespace emulated_hip {
namespace {

// What ends otherwise than on the emulated CUDA device.
struct Known {
  std::mutex mutex;
  std::set<void*> of_host;               // Pinned and managed memory.
  std::map<Address, Device> from_pools;  // Blocks.
  std::map<Object, Device> pools;        // Those that the program has made.
};
Known* const all_known = new Known;  // Made when the library is loaded.

constexpr Size pitch_alignment_bytes = 256, host_alignment_bytes = 4096;

Size pitch_of(Size width) {
  return (width + pitch_alignment_bytes - 1) / pitch_alignment_bytes * pitch_alignment_bytes;
}

Result report_host_block(void** out, Size bytes) {
  if (bytes == 0) {
    *out = nullptr;
    return success;
  }
  const Size rounded = (bytes + host_alignment_bytes - 1) / host_alignment_bytes * host_alignment_bytes;
  *out = rounded < bytes ? nullptr : std::aligned_alloc(host_alignment_bytes, rounded);
  if (*out == nullptr) return error_out_of_memory;
  const std::lock_guard lock(all_known->mutex);
  all_known->of_host.insert(*out);
  return success;
}

Result from_pool(Result result, const Address* out, Device device) {
  if (result != success) return result;
  const std::lock_guard lock(all_known->mutex);
  all_known->from_pools[*out] = device;
  return result;
}

bool forget_host(void* at) {
  const std::lock_guard lock(all_known->mutex);
  return all_known->of_host.erase(at) != 0;
}

}  // namespace

void end_pools_of(Device device) {
  const std::lock_guard lock(all_known->mutex);
  for (auto it = all_known->from_pools.begin(); it != all_known->from_pools.end();) {
    if (it->second == device) emulated_cuMemFree_v2(it->first);
    it = it->second == device ? all_known->from_pools.erase(it) : std::next(it);
  }
  for (auto it = all_known->pools.begin(); it != all_known->pools.end();) {
    if (it->second == device) emulated_cuMemPoolDestroy(it->first);
    it = it->second == device ? all_known->pools.erase(it) : std::next(it);
  }
}

Result behind::hipSetDevice(Device device) {
  int count = 0;
  ::cuDeviceGetCount(&count);
  if (device < 0 || device >= count) return invalid_device;
  set_device(device);
  return success;
}
Result behind::hipDeviceReset() {
  const Device device = use_device();
  end_pools_of(device);
  return emulated_cuDevicePrimaryCtxReset_v2(device);
}

Result behind::hipMalloc(Address* out, Size bytes) {
  *out = 0;
  return bytes == 0 ? success : emulated_cuMemAlloc_v2(out, bytes);
}
Result behind::hipExtMallocWithFlags(Address* out, Size bytes, unsigned) {
  return behind::hipMalloc(out, bytes);
}
Result behind::hipMallocPitch(Address* out, Size* pitch, Size width, Size height) {
  *pitch = pitch_of(width);
  return behind::hipMalloc(out, *pitch * height);
}
// Calls another entry point, which can be intercepted where the library is linked loosely.
Result behind::hipMemAllocPitch(Address* out, Size* pitch, Size width, Size height, unsigned) {
  return emulated_hip::hipMallocPitch(out, pitch, width, height);
}
Result behind::hipMalloc3D(PitchedPointer* out, Extent extent) {
  *out = {0, pitch_of(extent.width), extent.width, extent.height};
  return behind::hipMalloc(&out->at, out->pitch * rows_of(extent));
}
Result behind::hipMallocManaged(Address* out, Size bytes, unsigned) {
  return report_host_block(reinterpret_cast<void**>(out), bytes);
}
Result behind::hipHostMalloc(void** out, Size bytes, unsigned) {
  return report_host_block(out, bytes);
}
Result behind::hipHostAlloc(void** out, Size bytes, unsigned flags) {
  return emulated_hip::hipHostMalloc(out, bytes, flags);
}
Result behind::hipMallocHost(void** out, Size bytes) {
  return report_host_block(out, bytes);
}
Result behind::hipMemAllocHost(void** out, Size bytes) {
  return report_host_block(out, bytes);
}
// Frees anything, as all of AMD's do.
Result behind::hipFree(Address at) {
  if (at == 0 || forget_host(reinterpret_cast<void*>(at))) {
    std::free(reinterpret_cast<void*>(at));
    return success;
  }
  {
    const std::lock_guard lock(all_known->mutex);
    all_known->from_pools.erase(at);
  }
  return emulated_cuMemFree_v2(at) == success ? success : invalid_value;
}
Result behind::hipHostFree(void* at) {
  return behind::hipFree(reinterpret_cast<Address>(at));
}
Result behind::hipFreeHost(void* at) {
  return emulated_hip::hipHostFree(at);
}

Result behind::hipMallocAsync(Address* out, Size bytes, Object stream) {
  return from_pool(emulated_cuMemAllocAsync(out, bytes, stream), out, use_device());
}
Result behind::hipMallocFromPoolAsync(Address* out, Size bytes, Object pool, Object stream) {
  const Result result = emulated_cuMemAllocFromPoolAsync(out, bytes, pool, stream);
  const auto known = all_known->pools.find(pool);
  return from_pool(result, out, known != all_known->pools.end() ? known->second : use_device());
}
Result behind::hipFreeAsync(Address at, Object stream) {
  {
    const std::lock_guard lock(all_known->mutex);
    all_known->from_pools.erase(at);
  }
  return emulated_cuMemFreeAsync(at, stream);
}
Result behind::hipMemPoolCreate(Object* out, const PoolProperties* properties) {
  const Result result = emulated_cuMemPoolCreate(out, properties);
  const std::lock_guard lock(all_known->mutex);
  if (result == success) all_known->pools[*out] = properties->location.id;
  return result;
}
Result behind::hipMemPoolDestroy(Object pool) {
  {
    const std::lock_guard lock(all_known->mutex);
    all_known->pools.erase(pool);
  }
  return emulated_cuMemPoolDestroy(pool);
}

}  // namespace emulated_hip
