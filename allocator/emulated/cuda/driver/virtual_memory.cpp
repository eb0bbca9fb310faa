// Physical memory apart from addresses: create, reserve, map, set access, unmap, release.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "allocator/emulated/cuda/driver/objects.h"
#include "allocator/emulated/cuda/model/settings.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

HBMSCOPE_EXPORTED Result cuMemGetAllocationGranularity(Size* bytes, const AllocationProperties*, int) {
  *bytes = settings().granularity;
  return success;
}

HBMSCOPE_EXPORTED Result cuMemCreate(MemHandle* out, Size bytes, const AllocationProperties* properties, Flags) {
  if (out == nullptr || properties == nullptr) return error_invalid_value;
  const int device = properties->location.type == LocationType::device ? properties->location.id : -1;
  const LockedMachine machine;
  if (device >= machine->device_count()) return error_invalid_device;
  const Answer answer = machine->create_physical(device, bytes);
  if (answer.outcome == Outcome::ok) *out = answer.address;
  log(LogLevel::memory, "cuMemCreate(%zu) on device %d -> %d", bytes, device, result_from(answer.outcome));
  return result_from(answer.outcome);
}

// An address range that stands for memory of several devices, bound to it later: it takes nothing itself.
HBMSCOPE_EXPORTED Result cuMulticastCreate(MemHandle* out, const MulticastProperties* properties) {
  if (out == nullptr || properties == nullptr) return error_invalid_value;
  const Answer answer = LockedMachine()->import_physical(properties->bytes);
  if (answer.outcome == Outcome::ok) *out = answer.address;
  return result_from(answer.outcome);
}

HBMSCOPE_EXPORTED Result cuMemRelease(MemHandle handle) {
  log(LogLevel::memory, "cuMemRelease(%llu)", static_cast<unsigned long long>(handle));
  return result_from(LockedMachine()->release_physical(handle));
}

HBMSCOPE_EXPORTED Result cuMemAddressReserve(Address* out, Size bytes, Size alignment, Address, Flags) {
  const Answer answer = LockedMachine()->reserve(bytes, alignment);
  if (answer.outcome == Outcome::ok) *out = answer.address;
  return result_from(answer.outcome);
}

HBMSCOPE_EXPORTED Result cuMemAddressFree(Address begin, Size bytes) {
  return result_from(LockedMachine()->release_reservation(begin, bytes));
}

// `offset` must be 0, as in the real driver.
HBMSCOPE_EXPORTED Result cuMemMap(Address begin, Size bytes, Size offset, MemHandle handle, Flags) {
  if (offset != 0) return error_invalid_value;
  log(LogLevel::memory, "cuMemMap(%#llx, %zu)", static_cast<unsigned long long>(begin), bytes);
  return result_from(LockedMachine()->map(begin, bytes, handle));
}

HBMSCOPE_EXPORTED Result cuMemUnmap(Address begin, Size bytes) {
  log(LogLevel::memory, "cuMemUnmap(%#llx, %zu)", static_cast<unsigned long long>(begin), bytes);
  return result_from(LockedMachine()->unmap(begin, bytes));
}

HBMSCOPE_EXPORTED Result cuMemSetAccess(Address begin, Size bytes, const AccessDescriptor*, Size) {
  return result_from(LockedMachine()->set_access(begin, bytes));
}

HBMSCOPE_EXPORTED Result cuMemGetAccess(Flags* flags, const Location*, Address) {
  *flags = 3;  // Read and write.
  return success;
}

HBMSCOPE_EXPORTED Result cuMemRetainAllocationHandle(MemHandle* out, void* at) {
  const LockedMachine machine;
  const auto range = machine->find(reinterpret_cast<Address>(at));
  if (!range || range->kind != Kind::mapped) return error_invalid_value;
  *out = range->owner;
  return result_from(machine->retain_physical(range->owner));
}

HBMSCOPE_EXPORTED Result cuMemGetAllocationPropertiesFromHandle(AllocationProperties* out, MemHandle handle) {
  const LockedMachine machine;
  const Physical* physical = machine->find_physical(handle);
  if (physical == nullptr) return error_invalid_value;
  *out = AllocationProperties{};
  out->type = 1;  // CU_MEM_ALLOCATION_TYPE_PINNED
  out->location = {physical->device >= 0 ? LocationType::device : LocationType::host,
                   physical->device >= 0 ? physical->device : 0};
  return success;
}

// Between processes, a file descriptor stands for physical memory: a file without contents that has its size.
HBMSCOPE_EXPORTED Result cuMemExportToShareableHandle(void* out, MemHandle handle, int, Flags) {
  const LockedMachine machine;
  const Physical* physical = machine->find_physical(handle);
  if (physical == nullptr) return error_invalid_value;
  const int file = memfd_create("hbmscope_device_memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(physical->bytes)) != 0) return error_not_supported;
  std::memcpy(out, &file, sizeof(file));
  return success;
}

HBMSCOPE_EXPORTED Result cuMemImportFromShareableHandle(MemHandle* out, void* shared, int) {
  const off_t bytes = lseek(static_cast<int>(reinterpret_cast<std::intptr_t>(shared)), 0, SEEK_END);
  if (bytes <= 0) return error_invalid_value;
  const Answer answer = LockedMachine()->import_physical(static_cast<Bytes>(bytes));
  if (answer.outcome == Outcome::ok) *out = answer.address;
  return result_from(answer.outcome);
}
