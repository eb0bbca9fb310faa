// A fake libcuda.so.1: returns addresses without memory, counts what it allocated, and refuses when a device is full.
// Written from the public description of the driver API. Calls that allocate no reported memory do nothing.
//
//   FAKE_CUDA_DEVICES=2  FAKE_CUDA_BYTES=1000000 (a device's)  FAKE_CUDA_SLOW_US=100 (every call)
//   FAKE_CUDA_VERSION=12090
//
// fake_fail(name, result, times) makes the next calls of a function fail.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/collector/fake_cuda/fake_driver.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace fake_driver {
namespace {

constexpr Size page = 512;

long number_from(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atol(text) : otherwise;
}

struct Memory {
  Device device = 0;
  Size bytes = 0;
  Object context = nullptr;  // It ends with; null: with none.
  unsigned references = 1, mappings = 0;
};
struct Mapping {
  Size bytes = 0;
  MemHandle handle = 0;
};

struct Fake {
  std::mutex mutex;
  std::vector<Size> used = std::vector<Size>(static_cast<std::size_t>(number_from("FAKE_CUDA_DEVICES", 2)));
  const Size capacity = static_cast<Size>(number_from("FAKE_CUDA_BYTES", 1L << 40));
  const long slow_us = number_from("FAKE_CUDA_SLOW_US", 0);
  std::unordered_map<Address, Memory> blocks;
  std::unordered_map<Size, std::vector<Address>> free_addresses;  // The last one is handed out first, to any caller.
  std::unordered_map<Object, Memory> arrays, pools;
  std::unordered_map<MemHandle, Memory> handles;
  std::map<Address, Mapping> mappings;
  Address next =
      0x700000010000;  // No address has only zeros in its lower half, which is all that the oldest calls see.
  std::uint64_t next_object = 0x1000;
  std::atomic<bool> has_failures = false;
  std::map<std::string, std::pair<Result, int>> failures;

  Object new_object() { return reinterpret_cast<Object>(next_object += 16); }
  bool take(Device device, Size bytes) {
    Size& is_used = used.at(static_cast<std::size_t>(device));
    if (bytes > capacity - is_used) return false;
    is_used += bytes;
    return true;
  }
  void give(const Memory& memory) { used.at(static_cast<std::size_t>(memory.device)) -= memory.bytes; }
  Address new_address(Size bytes) {
    const Size rounded = (bytes + page - 1) / page * page;
    auto& free = free_addresses[rounded];
    if (free.empty()) return (next += rounded) - rounded;
    const Address address = free.back();
    free.pop_back();
    return address;
  }
};
Fake fake;
Device current() {
  return device_of(fake_current_context());
}

}  // namespace

Result failure_of(const char* name) {
  if (fake.slow_us > 0) usleep(static_cast<useconds_t>(fake.slow_us));
  if (!fake.has_failures) return success;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.failures.find(name);
  if (found == fake.failures.end() || found->second.second == 0) return success;
  --found->second.second;
  return found->second.first;
}

namespace {

#define MAY_FAIL \
  if (const Result failure = failure_of(__func__); failure != success) return failure

#define DOES_NOTHING(name, parameters) \
  Result name parameters {             \
    MAY_FAIL;                          \
    return success;                    \
  }

Result take_block(Address* out, Size bytes, Device device, Object context = nullptr) {
  if (out == nullptr || bytes == 0) return invalid_value;
  const std::lock_guard lock(fake.mutex);
  if (!fake.take(device, bytes)) return out_of_memory;
  *out = fake.new_address(bytes);
  fake.blocks[*out] = {device, bytes, context};
  return success;
}

Result take_host(void** out, Size bytes) {
  const std::lock_guard lock(fake.mutex);
  const Address address = fake.new_address(bytes);
  fake.blocks[address].context = fake_current_context();
  *out = reinterpret_cast<void*>(address);
  return success;
}

void drop_block(std::unordered_map<Address, Memory>::iterator block) {
  fake.give(block->second);
  fake.free_addresses[(block->second.bytes + page - 1) / page * page].push_back(block->first);
  fake.blocks.erase(block);
}

Result give_block(Address address) {
  if (address == 0) return success;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.blocks.find(address);
  if (found == fake.blocks.end()) return invalid_value;
  drop_block(found);
  return success;
}

Result new_array(Object* out, Size bytes) {
  const std::lock_guard lock(fake.mutex);
  if (!fake.take(current(), bytes)) return out_of_memory;
  *out = fake.new_object();
  fake.arrays[*out] = {current(), bytes, fake_current_context()};
  return success;
}

void drop_unless_used(MemHandle number) {
  const auto found = fake.handles.find(number);
  if (found->second.references > 0 || found->second.mappings > 0) return;
  fake.give(found->second);
  fake.handles.erase(found);
}

}  // namespace

void give_all_of(Object context) {
  const std::lock_guard lock(fake.mutex);
  for (auto block = fake.blocks.begin(); block != fake.blocks.end();) {
    const auto one = block++;
    if (one->second.context == context) drop_block(one);
  }
  for (auto array = fake.arrays.begin(); array != fake.arrays.end();) {
    const auto one = array++;
    if (one->second.context != context) continue;
    fake.give(one->second);
    fake.arrays.erase(one);
  }
}

EXPORTED void fake_fail(const char* name, Result result, int times) {
  const std::lock_guard lock(fake.mutex);
  fake.failures[name] = {result, times};
  fake.has_failures = true;
}

EXPORTED Result cuInit(unsigned) {
  return success;
}
EXPORTED Result cuDriverGetVersion(int* version) {
  *version = static_cast<int>(number_from("FAKE_CUDA_VERSION", 13000));
  return success;
}
EXPORTED Result cuDeviceGetCount(int* count) {
  *count = static_cast<int>(fake.used.size());
  return success;
}
EXPORTED Result cuDeviceGet(Device* device, int ordinal) {
  *device = ordinal;
  return success;
}
// For the device that is current().
EXPORTED Result cuMemGetInfo_v2(Size* free, Size* total) {
  const std::lock_guard lock(fake.mutex);
  *total = fake.capacity;
  *free = fake.capacity - fake.used.at(static_cast<std::size_t>(current()));
  return success;
}
EXPORTED Result cuCtxGetDevice(Device* device) {
  end_job_if_in_hook("cuCtxGetDevice");
  *device = current();
  return success;
}
EXPORTED Result cuMemGetAddressRange_v2(Address* base, Size* bytes, Address address) {
  end_job_if_in_hook("cuMemGetAddressRange_v2");
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.blocks.find(address);
  if (found == fake.blocks.end()) return not_found;
  *base = address;
  *bytes = found->second.bytes;
  return success;
}

// The implementations of the table's entry points; entry_points.cpp defines the functions that are called.
namespace behind {

Result cuMemAlloc_v2(Address* out, Size bytes) {
  MAY_FAIL;
  return take_block(out, bytes, current(), fake_current_context());
}
// Like some drivers, implements one entry point with another.
Result cuMemAlloc(Address32* out, unsigned bytes) {
  MAY_FAIL;
  Address address = 0;
  const Result result = fake_driver::cuMemAlloc_v2(&address, bytes);
  *out = static_cast<Address32>(address);
  return result;
}
Result cuMemFree_v2(Address address) {
  MAY_FAIL;
  return give_block(address);
}
Result cuMemFree(Address32 address) {
  MAY_FAIL;
  return give_block(Address{0x700000000000} | address);
}
Result cuMemAllocPitch_v2(Address* out, Size* pitch, Size width, Size height, unsigned) {
  MAY_FAIL;
  *pitch = (width + page - 1) / page * page;
  return fake_driver::cuMemAlloc_v2(out, *pitch * height);
}
Result cuMemAllocPitch(Address32* out, unsigned* pitch, unsigned width, unsigned height, unsigned element) {
  MAY_FAIL;
  Address address = 0;
  Size wide = 0;
  const Result result = fake_driver::cuMemAllocPitch_v2(&address, &wide, width, height, element);
  *out = static_cast<Address32>(address);
  *pitch = static_cast<unsigned>(wide);
  return result;
}
Result cuMemAllocManaged(Address* out, Size bytes, unsigned) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_address(bytes);
  fake.blocks[*out] = {current(), 0, fake_current_context()};
  return success;
}
// From the pool of the stream's device.
Result cuMemAllocAsync(Address* out, Size bytes, Object stream) {
  MAY_FAIL;
  return take_block(out, bytes, device_of_stream(stream));
}
Result cuMemAllocAsync_ptsz(Address* out, Size bytes, Object stream) {
  MAY_FAIL;
  return take_block(out, bytes, device_of_stream(stream));
}
Result cuMemAllocFromPoolAsync(Address* out, Size bytes, Object pool, Object) {
  MAY_FAIL;
  return take_block(out, bytes, fake.pools.at(pool).device);
}
Result cuMemAllocFromPoolAsync_ptsz(Address* out, Size bytes, Object pool, Object) {
  MAY_FAIL;
  return take_block(out, bytes, fake.pools.at(pool).device);
}
Result cuMemFreeAsync(Address address, Object) {
  MAY_FAIL;
  return give_block(address);
}
Result cuMemFreeAsync_ptsz(Address address, Object) {
  MAY_FAIL;
  return give_block(address);
}
Result cuMemPoolCreate(Object* out, const PoolProperties* properties) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_object();
  fake.pools[*out] = {properties->location.id, 0};
  return success;
}
Result cuMemPoolDestroy(Object pool) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  return fake.pools.erase(pool) == 1 ? success : invalid_value;
}
Result cuDeviceGetDefaultMemPool(Object* out, Device device) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = reinterpret_cast<Object>(static_cast<std::uintptr_t>(0xd00 + device));
  fake.pools[*out] = {device, 0};
  return success;
}
Result cuDeviceGetMemPool(Object* out, Device device) {
  MAY_FAIL;
  return fake_driver::cuDeviceGetDefaultMemPool(out, device);
}
Result cuMemGetDefaultMemPool(Object* out, const Location* location, int) {
  MAY_FAIL;
  return fake_driver::cuDeviceGetDefaultMemPool(out, location->id);
}
Result cuMemGetMemPool(Object* out, const Location* location, int) {
  MAY_FAIL;
  return fake_driver::cuDeviceGetDefaultMemPool(out, location->id);
}
DOES_NOTHING(cuGreenCtxStreamCreate, (Object*, Object, unsigned, int))
DOES_NOTHING(cuMemPoolExportPointer, (void*, Address))
// Memory shared by another process: a megabyte at its own address.
Result cuMemPoolImportPointer(Address* out, Object, void*) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_address(1 << 20);
  fake.blocks[*out] = {current(), 0};
  fake.blocks[*out].bytes = 1 << 20;
  fake.used.at(static_cast<std::size_t>(current())) += 1 << 20;
  return success;
}

Result cuMemAddressReserve(Address* out, Size bytes, Size, Address, Flags) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_address(bytes);
  return success;
}
DOES_NOTHING(cuMemAddressFree, (Address, Size))
Result cuMemCreate(MemHandle* out, Size bytes, const AllocationProperties* properties, Flags) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const bool is_device = properties->location.type == LocationType::device;
  if (is_device && !fake.take(properties->location.id, bytes)) return out_of_memory;
  *out = ++fake.next_object;
  fake.handles[*out] = {is_device ? properties->location.id : 0, is_device ? bytes : 0};
  return success;
}
Result cuMemRelease(MemHandle number) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.handles.find(number);
  if (found == fake.handles.end() || found->second.references == 0) return invalid_value;
  --found->second.references;
  drop_unless_used(number);
  return success;
}
Result cuMemRetainAllocationHandle(MemHandle* out, void* address) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.mappings.find(reinterpret_cast<Address>(address));
  if (found == fake.mappings.end()) return invalid_value;
  *out = found->second.handle;
  ++fake.handles[*out].references;
  return success;
}
Result cuMemMap(Address address, Size bytes, Size, MemHandle handle, Flags) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.handles.find(handle);
  if (found == fake.handles.end()) return invalid_value;
  ++found->second.mappings;
  fake.mappings[address] = {bytes, handle};
  return success;
}
Result cuMemUnmap(Address address, Size bytes) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  bool has_any = false;
  for (auto at = fake.mappings.lower_bound(address); at != fake.mappings.end() && at->first < address + bytes;) {
    --fake.handles[at->second.handle].mappings;
    drop_unless_used(at->second.handle);
    at = fake.mappings.erase(at);
    has_any = true;
  }
  return has_any ? success : invalid_value;
}
DOES_NOTHING(cuMemExportToShareableHandle, (void*, MemHandle, int, Flags))
// From another process: a handle that takes no memory here.
Result cuMemImportFromShareableHandle(MemHandle* out, void*, int) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = ++fake.next_object;
  fake.handles[*out] = {};
  return success;
}
Result cuMulticastCreate(MemHandle* out, const void*) {
  MAY_FAIL;
  return fake_driver::cuMemImportFromShareableHandle(out, nullptr, 0);
}

Result cuArrayCreate_v2(Object* out, const ArrayDescriptor<Size>* array) {
  MAY_FAIL;
  return new_array(out, array->width * std::max<Size>(array->height, 1) * array->channels * 4);
}
Result cuArrayCreate(Object* out, const ArrayDescriptor<unsigned>* array) {
  MAY_FAIL;
  return new_array(out, Size{array->width} * std::max(array->height, 1U) * array->channels * 4);
}
Result cuArray3DCreate_v2(Object* out, const Array3dDescriptor<Size>* array) {
  MAY_FAIL;
  return new_array(out, array->width * std::max<Size>(array->height, 1) * std::max<Size>(array->depth, 1) * 4);
}
Result cuArray3DCreate(Object* out, const Array3dDescriptor<unsigned>* array) {
  MAY_FAIL;
  return new_array(out, Size{array->width} * std::max(array->height, 1U) * std::max(array->depth, 1U) * 4);
}
Result cuMipmappedArrayCreate(Object* out, const Array3dDescriptor<Size>* array, unsigned) {
  MAY_FAIL;
  return new_array(out, array->width * std::max<Size>(array->height, 1) * 8);
}
Result cuArrayDestroy(Object array) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.arrays.find(array);
  if (found == fake.arrays.end()) return invalid_value;
  fake.give(found->second);
  fake.arrays.erase(found);
  return success;
}
Result cuMipmappedArrayDestroy(Object array) {
  MAY_FAIL;
  return fake_driver::cuArrayDestroy(array);
}

Result cuMemHostAlloc(void** out, Size bytes, unsigned) {
  MAY_FAIL;
  return take_host(out, bytes);
}
Result cuMemHostAlloc_v2(void** out, Size bytes, unsigned) {
  MAY_FAIL;
  return take_host(out, bytes);
}
Result cuMemAllocHost_v2(void** out, Size bytes) {
  MAY_FAIL;
  return take_host(out, bytes);
}
Result cuMemAllocHost(void** out, unsigned bytes) {
  MAY_FAIL;
  return take_host(out, bytes);
}
Result cuMemFreeHost(void* address) {
  MAY_FAIL;
  return give_block(reinterpret_cast<Address>(address));
}
DOES_NOTHING(cuMemHostRegister, (void*, Size, unsigned))
DOES_NOTHING(cuMemHostRegister_v2, (void*, Size, unsigned))
DOES_NOTHING(cuMemHostUnregister, (void*))

DOES_NOTHING(cuIpcGetMemHandle, (IpcHandle*, Address))
Result cuIpcOpenMemHandle(Address* out, IpcHandle, unsigned) {
  MAY_FAIL;
  return fake_driver::cuMemPoolImportPointer(out, nullptr, nullptr);
}
Result cuIpcOpenMemHandle_v2(Address* out, IpcHandle, unsigned) {
  MAY_FAIL;
  return fake_driver::cuMemPoolImportPointer(out, nullptr, nullptr);
}
Result cuIpcCloseMemHandle(Address address) {
  MAY_FAIL;
  return give_block(address);
}
Result cuImportExternalMemory(Object* out, const ExternalMemoryDescriptor*) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_object();
  return success;
}
Result cuExternalMemoryGetMappedBuffer(Address* out, Object, const ExternalBufferDescriptor*) {
  MAY_FAIL;
  return fake_driver::cuMemPoolImportPointer(out, nullptr, nullptr);
}
Result cuExternalMemoryGetMappedMipmappedArray(Object* out, Object, const void*) {
  MAY_FAIL;
  return new_array(out, 0);
}
DOES_NOTHING(cuDestroyExternalMemory, (Object))

// Weak: streams.cpp has some that do something.
#define REFUSES(name, since, parameters, arguments) __attribute__((weak)) DOES_NOTHING(name, parameters)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "collector/inject/driver_entries.inc"
#pragma GCC diagnostic pop

}  // namespace behind

}  // namespace fake_driver
