// Pools and stream-ordered memory. A pool's handle is its number in the model.
#include <cstring>

#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

Object handle_from(const Pool& pool) {
  return reinterpret_cast<Object>(pool.id());
}
std::uint64_t id_from(Object pool) {
  return reinterpret_cast<std::uint64_t>(pool);
}

// CUmemPool_attribute
namespace pool_attribute {
constexpr int release_threshold = 4, reserved = 5, reserved_peak = 6, used = 7, used_peak = 8;
}

Result allocate(Address* out, Size bytes, Pool* pool, LockedMachine& machine) {
  if (pool == nullptr || out == nullptr) return error_invalid_value;
  const Answer answer = machine->allocate_from_pool(*pool, bytes);
  if (answer.outcome == Outcome::ok) *out = answer.address;
  log(LogLevel::memory, "cuMemAllocAsync(%zu) -> %d, %#llx", bytes, result_from(answer.outcome),
      static_cast<unsigned long long>(answer.address));
  return result_from(answer.outcome);
}

}  // namespace

HBMSCOPE_EXPORTED Result cuMemPoolCreate(Object* out, const PoolProperties* properties) {
  const LockedMachine machine;
  const int device = properties->location.type == LocationType::device ? properties->location.id : 0;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  *out = handle_from(machine->create_pool(device, properties->bytes_max));
  return success;
}
HBMSCOPE_EXPORTED Result cuMemPoolDestroy(Object pool) {
  return result_from(LockedMachine()->destroy_pool(id_from(pool)));
}
HBMSCOPE_EXPORTED Result cuDeviceGetDefaultMemPool(Object* out, DeviceOrdinal device) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  *out = handle_from(machine->default_pool(device));
  return success;
}
HBMSCOPE_EXPORTED Result cuDeviceGetMemPool(Object* out, DeviceOrdinal device) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  *out = handle_from(machine->current_pool(device));
  return success;
}
HBMSCOPE_EXPORTED Result cuDeviceSetMemPool(DeviceOrdinal device, Object pool) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return error_invalid_device;
  if (machine->find_pool(id_from(pool)) == nullptr) return error_invalid_value;
  machine->set_current_pool(device, id_from(pool));
  return success;
}

// By location and type of memory: only devices have pools here. Since CUDA 13.
HBMSCOPE_EXPORTED Result cuMemGetDefaultMemPool(Object* out, const Location* location, int) {
  return location->type == LocationType::device ? cuDeviceGetDefaultMemPool(out, location->id) : error_not_supported;
}
HBMSCOPE_EXPORTED Result cuMemGetMemPool(Object* out, const Location* location, int) {
  return location->type == LocationType::device ? cuDeviceGetMemPool(out, location->id) : error_not_supported;
}
HBMSCOPE_EXPORTED Result cuMemSetMemPool(const Location* location, int, Object pool) {
  return location->type == LocationType::device ? cuDeviceSetMemPool(location->id, pool) : error_not_supported;
}

HBMSCOPE_EXPORTED Result cuMemPoolTrimTo(Object handle, Size kept_bytes) {
  const LockedMachine machine;
  Pool* pool = machine->find_pool(id_from(handle));
  if (pool == nullptr) return error_invalid_value;
  machine->trim_pool(*pool, kept_bytes);
  return success;
}

HBMSCOPE_EXPORTED Result cuMemPoolSetAttribute(Object handle, int which, void* value) {
  const LockedMachine machine;
  Pool* pool = machine->find_pool(id_from(handle));
  if (pool == nullptr) return error_invalid_value;
  std::uint64_t wide;
  switch (which) {
    case pool_attribute::release_threshold:
      std::memcpy(&wide, value, sizeof(wide));
      pool->set_release_threshold(wide);
      break;
    case pool_attribute::reserved_peak: pool->reset_reserved_peak(); break;
    case pool_attribute::used_peak: pool->reset_used_peak(); break;
    default: break;  // Rules of reuse between streams: freed memory can always be reused here.
  }
  return success;
}

HBMSCOPE_EXPORTED Result cuMemPoolGetAttribute(Object handle, int which, void* value) {
  const LockedMachine machine;
  const Pool* pool = machine->find_pool(id_from(handle));
  if (pool == nullptr) return error_invalid_value;
  std::uint64_t wide = 0;
  switch (which) {
    case pool_attribute::release_threshold: wide = pool->release_threshold(); break;
    case pool_attribute::reserved: wide = pool->bytes().reserved; break;
    case pool_attribute::reserved_peak: wide = pool->bytes().reserved_peak; break;
    case pool_attribute::used: wide = pool->bytes().used; break;
    case pool_attribute::used_peak: wide = pool->bytes().used_peak; break;
    default: {
      const int is_on = 1;
      std::memcpy(value, &is_on, sizeof(is_on));
      return success;
    }
  }
  std::memcpy(value, &wide, sizeof(wide));
  return success;
}

HBMSCOPE_EXPORTED Result cuMemPoolGetAccess(int* flags, Object, const Location*) {
  *flags = 3;  // Read and write.
  return success;
}

HBMSCOPE_EXPORTED Result cuMemAllocFromPoolAsync(Address* out, Size bytes, Object pool, Object) {
  LockedMachine machine;
  return allocate(out, bytes, machine->find_pool(id_from(pool)), machine);
}

HBMSCOPE_EXPORTED Result cuMemAllocAsync(Address* out, Size bytes, Object stream) {
  const int device = stream_from(stream).device;
  LockedMachine machine;
  return allocate(out, bytes, &machine->current_pool(device), machine);
}

// The block is free when the stream gets there: at once, unless a host function is queued before it.
HBMSCOPE_EXPORTED Result cuMemFreeAsync(Address address, Object stream) {
  if (address == 0) return success;
  if (!LockedMachine()->find(address)) return error_invalid_value;
  log(LogLevel::memory, "cuMemFreeAsync(%#llx)", static_cast<unsigned long long>(address));
  stream_from(stream).run([address] { LockedMachine()->free(address); }, 0);
  return success;
}
