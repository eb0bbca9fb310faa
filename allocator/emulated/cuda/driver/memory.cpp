// Blocks of device, managed and host memory, and what is known about an address.
#include <cstring>

#include "allocator/emulated/cuda/driver/objects.h"
#include "allocator/emulated/cuda/model/settings.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

constexpr Size pitch_alignment_bytes = 512;

Result allocate(Address* out, Size bytes) {
  if (out == nullptr) return error_invalid_value;
  if (current_context() == nullptr) return error_invalid_context;
  const Answer answer = LockedMachine()->allocate(current_device(), bytes, number_of(current_context()));
  if (answer.outcome == Outcome::ok) *out = answer.address;
  log(LogLevel::memory, "cuMemAlloc(%zu) on device %d -> %d, %#llx", bytes, current_device(),
      result_from(answer.outcome), static_cast<unsigned long long>(answer.address));
  return result_from(answer.outcome);
}

Result allocate_host(Address* out, Size bytes, Kind kind) {
  const Answer answer = LockedMachine()->allocate_host(current_device(), bytes, kind, number_of(current_context()));
  if (answer.outcome == Outcome::ok) *out = answer.address;
  return result_from(answer.outcome);
}

Result release(Address address, const char* caller) {
  const Outcome outcome = LockedMachine()->free(address);
  log(LogLevel::memory, "%s(%#llx) -> %d", caller, static_cast<unsigned long long>(address), result_from(outcome));
  return result_from(outcome);
}

template <class Type>
void put(void* out, Type value) {
  std::memcpy(out, &value, sizeof(value));
}

// CUpointer_attribute
Result write_attribute(void* out, int attribute, const Range& range, Address address) {
  const bool is_host = range.kind == Kind::host || range.kind == Kind::registered;
  switch (attribute) {
    case 1: {  // CONTEXT
      put<Object>(out, current_context());
      return success;
    }
    case 2: put<unsigned>(out, is_host ? memory_type_host : memory_type_device); return success;
    case 3: put<Address>(out, address); return success;  // DEVICE_POINTER
    case 4:                                              // HOST_POINTER
      if (!is_host && range.kind != Kind::managed) return error_invalid_value;
      put<Address>(out, address);
      return success;
    case 6: put<unsigned>(out, 1); return success;                   // SYNC_MEMOPS
    case 7: put<unsigned long long>(out, range.id); return success;  // BUFFER_ID
    case 8: put<unsigned>(out, range.kind == Kind::managed); return success;
    case 9: put<int>(out, range.device); return success;  // DEVICE_ORDINAL
    case 10:                                              // IS_LEGACY_CUDA_IPC_CAPABLE
      put<unsigned>(out, range.kind == Kind::device);
      return success;
    case 11: put<Address>(out, range.begin); return success;   // RANGE_START_ADDR
    case 12: put<Size>(out, range.bytes); return success;      // RANGE_SIZE
    case 13: put<unsigned>(out, 1); return success;            // MAPPED
    case 14: put<unsigned long long>(out, 0); return success;  // ALLOWED_HANDLE_TYPES
    case 15: put<unsigned>(out, 0); return success;            // IS_GPU_DIRECT_RDMA_CAPABLE
    case 16: put<unsigned>(out, 3); return success;            // ACCESS_FLAGS: read and write
    case 17: put<Object>(out, reinterpret_cast<Object>(range.kind == Kind::pooled ? range.owner : 0)); return success;
    case 18: put<Size>(out, range.bytes); return success;             // MAPPING_SIZE
    case 19: put<Address>(out, range.begin); return success;          // MAPPING_BASE_ADDR
    case 20: put<unsigned long long>(out, range.id); return success;  // MEMORY_BLOCK_ID
    default: return error_invalid_value;
  }
}

}  // namespace

HBMSCOPE_EXPORTED Result cuMemGetInfo_v2(Size* free, Size* total) {
  if (current_context() == nullptr) return error_invalid_context;
  const LockedMachine machine;
  const Ledger& ledger = machine->device(current_device()).ledger();
  if (free != nullptr) *free = ledger.free_bytes();
  if (total != nullptr) *total = ledger.total_bytes();
  return success;
}

// For the emulated NVML, and for tests: bytes of a device that this process sees, taken by this process, and free for
// all. -1: there is no such device.
HBMSCOPE_EXPORTED long long hbmscope_device_used_bytes(int device) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return -1;
  return static_cast<long long>(machine->device(device).ledger().taken_bytes());
}
// A device's number on the machine, for the report of a process (python/hbmscope_dry_run.py). -1: this process sees
// fewer.
HBMSCOPE_EXPORTED int hbmscope_device_number(int device) {
  const auto& visible = settings().visible_devices;
  return device < 0 || device >= static_cast<int>(visible.size()) ? -1 : visible[static_cast<std::size_t>(device)];
}

HBMSCOPE_EXPORTED long long hbmscope_device_free_bytes(int device) {
  const LockedMachine machine;
  if (device < 0 || device >= machine->device_count()) return -1;
  return static_cast<long long>(machine->device(device).ledger().free_bytes());
}

HBMSCOPE_EXPORTED Result cuMemAlloc_v2(Address* out, Size bytes) {
  return allocate(out, bytes);
}

HBMSCOPE_EXPORTED Result cuMemAllocPitch_v2(Address* out, Size* pitch, Size width, Size height, unsigned) {
  *pitch = round_up(width, pitch_alignment_bytes);
  return allocate(out, *pitch * height);
}

// Waits for the device, as the real one does for memory of cuMemAlloc.
HBMSCOPE_EXPORTED Result cuMemFree_v2(Address address) {
  if (address == 0) return success;
  const auto range = LockedMachine()->find(address);
  if (!range || range->kind == Kind::array) return error_invalid_value;
  wait_for_device(range->device);
  return release(address, "cuMemFree");
}

HBMSCOPE_EXPORTED Result cuMemAllocManaged(Address* out, Size bytes, unsigned) {
  return allocate_host(out, bytes, Kind::managed);
}

HBMSCOPE_EXPORTED Result cuMemHostAlloc(void** out, Size bytes, unsigned) {
  Address address = 0;
  const Result result = allocate_host(&address, bytes, Kind::host);
  *out = pointer_from(address);
  return result;
}
HBMSCOPE_EXPORTED Result cuMemAllocHost_v2(void** out, Size bytes) {
  return cuMemHostAlloc(out, bytes, 0);
}
HBMSCOPE_EXPORTED Result cuMemFreeHost(void* at) {
  wait_for_device(current_device());
  return release(reinterpret_cast<Address>(at), "cuMemFreeHost");
}
HBMSCOPE_EXPORTED Result cuMemHostRegister_v2(void* at, Size bytes, unsigned) {
  return result_from(LockedMachine()->register_host(current_device(), reinterpret_cast<Address>(at), bytes));
}
HBMSCOPE_EXPORTED Result cuMemHostUnregister(void* at) {
  return result_from(LockedMachine()->unregister_host(reinterpret_cast<Address>(at)));
}
HBMSCOPE_EXPORTED Result cuMemHostGetDevicePointer_v2(Address* out, void* at, unsigned) {
  *out = reinterpret_cast<Address>(at);
  return success;
}
HBMSCOPE_EXPORTED Result cuMemHostGetFlags(unsigned* flags, void*) {
  *flags = 0;
  return success;
}

HBMSCOPE_EXPORTED Result cuMemGetAddressRange_v2(Address* begin, Size* bytes, Address address) {
  const auto range = LockedMachine()->find(address);
  if (!range) return error_not_found;
  if (begin != nullptr) *begin = range->begin;
  if (bytes != nullptr) *bytes = range->bytes;
  return success;
}

HBMSCOPE_EXPORTED Result cuPointerGetAttribute(void* out, int attribute, Address address) {
  const auto range = LockedMachine()->find(address);
  return range ? write_attribute(out, attribute, *range, address) : error_invalid_value;
}

// An address that is not the driver's gets zeros, not an error.
HBMSCOPE_EXPORTED Result cuPointerGetAttributes(unsigned count, const int* attributes, void** out, Address address) {
  const auto range = LockedMachine()->find(address);
  for (unsigned i = 0; i < count; ++i)
    if (!range || write_attribute(out[i], attributes[i], *range, address) != success) {
      const bool is_wide = attributes[i] == 1 || attributes[i] == 3 || attributes[i] == 4 || attributes[i] == 7 ||
                           attributes[i] == 11 || attributes[i] == 12 || attributes[i] == 14 || attributes[i] >= 17;
      std::memset(out[i], 0, is_wide ? 8 : 4);
      if (attributes[i] == 9) put<int>(out[i], -2);  // Documented: no device.
    }
  return success;
}
