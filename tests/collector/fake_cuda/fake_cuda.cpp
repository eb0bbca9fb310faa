// A pretend libcuda.so.1: gives out addresses that nothing is behind, counts what it gave, refuses when a device is
// full. Written from the public description of the driver API; what takes no memory that is told does nothing.
//
//   FAKE_CUDA_DEVICES=2  FAKE_CUDA_BYTES=1000000 (a device's)  FAKE_CUDA_SLOW_US=100 (every call)
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

#include "collector/inject/driver_types.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace hbmscope::inject::driver;

constexpr Result invalid_value = 1, not_found = 500;
constexpr Size page = 512;

long number_from(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atol(text) : otherwise;
}

struct Memory {
  Device device = 0;
  Size bytes = 0;
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
  std::unordered_map<Size, std::vector<Address>> free_addresses;  // The last one is given out first, to whoever comes.
  std::unordered_map<Object, Memory> arrays, pools;
  std::unordered_map<MemHandle, Memory> handles;
  std::map<Address, Mapping> mappings;
  Address next =
      0x700000010000;  // No address has zeros alone in its lower half, of which the oldest calls know nothing else.
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
thread_local Device current = 0;

Result failure_of(const char* name) {
  if (fake.slow_us > 0) usleep(static_cast<useconds_t>(fake.slow_us));
  if (!fake.has_failures) return success;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.failures.find(name);
  if (found == fake.failures.end() || found->second.second == 0) return success;
  --found->second.second;
  return found->second.first;
}
#define MAY_FAIL \
  if (const Result failure = failure_of(__func__); failure != success) return failure

#define DOES_NOTHING(name, parameters) \
  EXPORTED Result name parameters {    \
    MAY_FAIL;                          \
    return success;                    \
  }

Result take_block(Address* out, Size bytes, Device device) {
  if (out == nullptr || bytes == 0) return invalid_value;
  const std::lock_guard lock(fake.mutex);
  if (!fake.take(device, bytes)) return out_of_memory;
  *out = fake.new_address(bytes);
  fake.blocks[*out] = {device, bytes};
  return success;
}

Result take_host(void** out, Size bytes) {
  const std::lock_guard lock(fake.mutex);
  const Address address = fake.new_address(bytes);
  fake.blocks[address] = {};
  *out = reinterpret_cast<void*>(address);
  return success;
}

Result give_block(Address address) {
  if (address == 0) return success;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.blocks.find(address);
  if (found == fake.blocks.end()) return invalid_value;
  fake.give(found->second);
  fake.free_addresses[(found->second.bytes + page - 1) / page * page].push_back(address);
  fake.blocks.erase(found);
  return success;
}

Result new_array(Object* out, Size bytes) {
  const std::lock_guard lock(fake.mutex);
  if (!fake.take(current, bytes)) return out_of_memory;
  *out = fake.new_object();
  fake.arrays[*out] = {current, bytes};
  return success;
}

void drop_unless_used(MemHandle number) {
  const auto found = fake.handles.find(number);
  if (found->second.references > 0 || found->second.mappings > 0) return;
  fake.give(found->second);
  fake.handles.erase(found);
}

}  // namespace

EXPORTED void fake_fail(const char* name, Result result, int times) {
  const std::lock_guard lock(fake.mutex);
  fake.failures[name] = {result, times};
  fake.has_failures = true;
}

EXPORTED Result cuInit(unsigned) {
  return success;
}
EXPORTED Result cuDriverGetVersion(int* version) {
  *version = 13000;
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
// A context is its device, plus one.
EXPORTED Result cuCtxSetCurrent(Object context) {
  current = static_cast<Device>(reinterpret_cast<std::uintptr_t>(context)) - 1;
  return success;
}
EXPORTED Result cuCtxGetDevice(Device* device) {
  *device = current;
  return success;
}
EXPORTED Result cuMemGetAddressRange_v2(Address* base, Size* bytes, Address address) {
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.blocks.find(address);
  if (found == fake.blocks.end()) return not_found;
  *base = address;
  *bytes = found->second.bytes;
  return success;
}

EXPORTED Result cuMemAlloc_v2(Address* out, Size bytes) {
  MAY_FAIL;
  return take_block(out, bytes, current);
}
// As some drivers do: one entry point is made of another one.
EXPORTED Result cuMemAlloc(Address32* out, unsigned bytes) {
  MAY_FAIL;
  Address address = 0;
  const Result result = cuMemAlloc_v2(&address, bytes);
  *out = static_cast<Address32>(address);
  return result;
}
EXPORTED Result cuMemFree_v2(Address address) {
  MAY_FAIL;
  return give_block(address);
}
EXPORTED Result cuMemFree(Address32 address) {
  MAY_FAIL;
  return give_block(Address{0x700000000000} | address);
}
EXPORTED Result cuMemAllocPitch_v2(Address* out, Size* pitch, Size width, Size height, unsigned) {
  MAY_FAIL;
  *pitch = (width + page - 1) / page * page;
  return cuMemAlloc_v2(out, *pitch * height);
}
EXPORTED Result cuMemAllocPitch(Address32* out, unsigned* pitch, unsigned width, unsigned height, unsigned element) {
  MAY_FAIL;
  Address address = 0;
  Size wide = 0;
  const Result result = cuMemAllocPitch_v2(&address, &wide, width, height, element);
  *out = static_cast<Address32>(address);
  *pitch = static_cast<unsigned>(wide);
  return result;
}
EXPORTED Result cuMemAllocManaged(Address* out, Size bytes, unsigned) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_address(bytes);
  fake.blocks[*out] = {current, 0};
  return success;
}
EXPORTED Result cuMemAllocAsync(Address* out, Size bytes, Object) {
  MAY_FAIL;
  return take_block(out, bytes, current);
}
EXPORTED Result cuMemAllocAsync_ptsz(Address* out, Size bytes, Object) {
  MAY_FAIL;
  return take_block(out, bytes, current);
}
EXPORTED Result cuMemAllocFromPoolAsync(Address* out, Size bytes, Object pool, Object) {
  MAY_FAIL;
  return take_block(out, bytes, fake.pools.at(pool).device);
}
EXPORTED Result cuMemAllocFromPoolAsync_ptsz(Address* out, Size bytes, Object pool, Object) {
  MAY_FAIL;
  return take_block(out, bytes, fake.pools.at(pool).device);
}
EXPORTED Result cuMemFreeAsync(Address address, Object) {
  MAY_FAIL;
  return give_block(address);
}
EXPORTED Result cuMemFreeAsync_ptsz(Address address, Object) {
  MAY_FAIL;
  return give_block(address);
}
EXPORTED Result cuMemPoolCreate(Object* out, const PoolProperties* properties) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_object();
  fake.pools[*out] = {properties->location.id, 0};
  return success;
}
EXPORTED Result cuMemPoolDestroy(Object pool) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  return fake.pools.erase(pool) == 1 ? success : invalid_value;
}
EXPORTED Result cuDeviceGetDefaultMemPool(Object* out, Device device) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = reinterpret_cast<Object>(static_cast<std::uintptr_t>(0xd00 + device));
  fake.pools[*out] = {device, 0};
  return success;
}
EXPORTED Result cuDeviceGetMemPool(Object* out, Device device) {
  MAY_FAIL;
  return cuDeviceGetDefaultMemPool(out, device);
}
DOES_NOTHING(cuMemPoolExportPointer, (void*, Address))
// What another process shares: a megabyte at an address of its own.
EXPORTED Result cuMemPoolImportPointer(Address* out, Object, void*) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_address(1 << 20);
  fake.blocks[*out] = {current, 0};
  fake.blocks[*out].bytes = 1 << 20;
  fake.used.at(static_cast<std::size_t>(current)) += 1 << 20;
  return success;
}

EXPORTED Result cuMemAddressReserve(Address* out, Size bytes, Size, Address, Flags) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_address(bytes);
  return success;
}
DOES_NOTHING(cuMemAddressFree, (Address, Size))
EXPORTED Result cuMemCreate(MemHandle* out, Size bytes, const AllocationProperties* properties, Flags) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const bool is_device = properties->location.type == LocationType::device;
  if (is_device && !fake.take(properties->location.id, bytes)) return out_of_memory;
  *out = ++fake.next_object;
  fake.handles[*out] = {is_device ? properties->location.id : 0, is_device ? bytes : 0};
  return success;
}
EXPORTED Result cuMemRelease(MemHandle number) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.handles.find(number);
  if (found == fake.handles.end() || found->second.references == 0) return invalid_value;
  --found->second.references;
  drop_unless_used(number);
  return success;
}
EXPORTED Result cuMemRetainAllocationHandle(MemHandle* out, void* address) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.mappings.find(reinterpret_cast<Address>(address));
  if (found == fake.mappings.end()) return invalid_value;
  *out = found->second.handle;
  ++fake.handles[*out].references;
  return success;
}
EXPORTED Result cuMemMap(Address address, Size bytes, Size, MemHandle handle, Flags) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.handles.find(handle);
  if (found == fake.handles.end()) return invalid_value;
  ++found->second.mappings;
  fake.mappings[address] = {bytes, handle};
  return success;
}
EXPORTED Result cuMemUnmap(Address address, Size bytes) {
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
// Of another process: a handle that takes nothing here.
EXPORTED Result cuMemImportFromShareableHandle(MemHandle* out, void*, int) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = ++fake.next_object;
  fake.handles[*out] = {};
  return success;
}
EXPORTED Result cuMulticastCreate(MemHandle* out, const void*) {
  MAY_FAIL;
  return cuMemImportFromShareableHandle(out, nullptr, 0);
}

EXPORTED Result cuArrayCreate_v2(Object* out, const ArrayDescriptor<Size>* array) {
  MAY_FAIL;
  return new_array(out, array->width * std::max<Size>(array->height, 1) * array->channels * 4);
}
EXPORTED Result cuArrayCreate(Object* out, const ArrayDescriptor<unsigned>* array) {
  MAY_FAIL;
  return new_array(out, Size{array->width} * std::max(array->height, 1U) * array->channels * 4);
}
EXPORTED Result cuArray3DCreate_v2(Object* out, const Array3dDescriptor<Size>* array) {
  MAY_FAIL;
  return new_array(out, array->width * std::max<Size>(array->height, 1) * std::max<Size>(array->depth, 1) * 4);
}
EXPORTED Result cuArray3DCreate(Object* out, const Array3dDescriptor<unsigned>* array) {
  MAY_FAIL;
  return new_array(out, Size{array->width} * std::max(array->height, 1U) * std::max(array->depth, 1U) * 4);
}
EXPORTED Result cuMipmappedArrayCreate(Object* out, const Array3dDescriptor<Size>* array, unsigned) {
  MAY_FAIL;
  return new_array(out, array->width * std::max<Size>(array->height, 1) * 8);
}
EXPORTED Result cuArrayDestroy(Object array) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  const auto found = fake.arrays.find(array);
  if (found == fake.arrays.end()) return invalid_value;
  fake.give(found->second);
  fake.arrays.erase(found);
  return success;
}
EXPORTED Result cuMipmappedArrayDestroy(Object array) {
  MAY_FAIL;
  return cuArrayDestroy(array);
}

EXPORTED Result cuMemHostAlloc(void** out, Size bytes, unsigned) {
  MAY_FAIL;
  return take_host(out, bytes);
}
EXPORTED Result cuMemHostAlloc_v2(void** out, Size bytes, unsigned) {
  MAY_FAIL;
  return take_host(out, bytes);
}
EXPORTED Result cuMemAllocHost_v2(void** out, Size bytes) {
  MAY_FAIL;
  return take_host(out, bytes);
}
EXPORTED Result cuMemAllocHost(void** out, unsigned bytes) {
  MAY_FAIL;
  return take_host(out, bytes);
}
EXPORTED Result cuMemFreeHost(void* address) {
  MAY_FAIL;
  return give_block(reinterpret_cast<Address>(address));
}
DOES_NOTHING(cuMemHostRegister, (void*, Size, unsigned))
DOES_NOTHING(cuMemHostRegister_v2, (void*, Size, unsigned))
DOES_NOTHING(cuMemHostUnregister, (void*))

DOES_NOTHING(cuIpcGetMemHandle, (IpcHandle*, Address))
EXPORTED Result cuIpcOpenMemHandle(Address* out, IpcHandle, unsigned) {
  MAY_FAIL;
  return cuMemPoolImportPointer(out, nullptr, nullptr);
}
EXPORTED Result cuIpcOpenMemHandle_v2(Address* out, IpcHandle, unsigned) {
  MAY_FAIL;
  return cuMemPoolImportPointer(out, nullptr, nullptr);
}
EXPORTED Result cuIpcCloseMemHandle(Address address) {
  MAY_FAIL;
  return give_block(address);
}
EXPORTED Result cuImportExternalMemory(Object* out, const ExternalMemoryDescriptor*) {
  MAY_FAIL;
  const std::lock_guard lock(fake.mutex);
  *out = fake.new_object();
  return success;
}
EXPORTED Result cuExternalMemoryGetMappedBuffer(Address* out, Object, const ExternalBufferDescriptor*) {
  MAY_FAIL;
  return cuMemPoolImportPointer(out, nullptr, nullptr);
}
EXPORTED Result cuExternalMemoryGetMappedMipmappedArray(Object* out, Object, const void*) {
  MAY_FAIL;
  return new_array(out, 0);
}
DOES_NOTHING(cuDestroyExternalMemory, (Object))

#define REFUSES(name, since, parameters, arguments) DOES_NOTHING(name, parameters)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "collector/inject/driver_entries.inc"
#pragma GCC diagnostic pop

namespace {

struct Function {
  std::string name;
  int since;
  void* address;
};
#define TAKES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define GIVES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
#define REFUSES(name, since, ...) {#name, since, reinterpret_cast<void*>(&name)},
const Function functions[] = {
#include "collector/inject/driver_entries.inc"
    {"cuCtxGetDevice", 2000, reinterpret_cast<void*>(&cuCtxGetDevice)},
};

// The newest variant of a name that a program of that version knows; with a thread's own default stream where asked.
void* find_function(const std::string& symbol, int version, Flags flags) {
  const Function* best = nullptr;
  for (const bool is_per_thread : {true, false}) {
    if (is_per_thread && (flags & 2) == 0) continue;
    for (const Function& function : functions) {
      for (const char* variant : {"", "_v2", "_v3", "_v4"})
        if (function.name == symbol + variant + (is_per_thread ? "_ptsz" : "") && function.since <= version &&
            (best == nullptr || function.since >= best->since))
          best = &function;
    }
    if (best != nullptr) break;
  }
  return best == nullptr ? nullptr : best->address;
}

}  // namespace

EXPORTED Result cuGetProcAddress(const char* symbol, void** out, int version, Flags flags) {
  MAY_FAIL;
  *out = find_function(symbol, version, flags);
  return *out == nullptr ? not_found : success;
}
EXPORTED Result cuGetProcAddress_v2(const char* symbol, void** out, int version, Flags flags, int* status) {
  MAY_FAIL;
  if (std::strcmp(symbol, "cuGetProcAddress") == 0) {
    *out = reinterpret_cast<void*>(&cuGetProcAddress_v2);
    return success;
  }
  *out = find_function(symbol, version, flags);
  if (status != nullptr) *status = *out == nullptr ? 1 : 0;
  return *out == nullptr ? not_found : success;
}
