// Like some drivers, implements entry points with others: a call then contains another one, which the hook reports,
// too, and which can be intercepted where the library is linked loosely. The oldest entry points, whose addresses have
// 32 bits, exist only here.
#include <algorithm>
#include <map>
#include <mutex>

#include "tests/collector/emulated_driver/wrapped.h"

namespace emulated_driver {
namespace {

// The address whose lower half the oldest calls know.
struct Halves {
  std::mutex mutex;
  std::map<Address32, Address> whole;
};
Halves* const all_halves = new Halves;  // Made when the library is loaded, as in held_streams.cpp.
Halves& halves() {
  return *all_halves;
}
Address32 half_of(Address address) {
  const std::lock_guard lock(halves().mutex);
  const auto half = static_cast<Address32>(address);
  halves().whole[half] = address;
  return half;
}
Address whole_of(Address32 half) {
  const std::lock_guard lock(halves().mutex);
  const auto found = halves().whole.find(half);
  return found == halves().whole.end() ? half : found->second;
}

constexpr Size pitch_alignment_bytes = 512, mapping_unit_bytes = Size{2} << 20;

}  // namespace

// The collector knows it, cuda.h doesn't.
extern "C" Result emulated_cuMemHostAlloc_v2(void** out, Size bytes, unsigned flags) {
  return emulated_cuMemHostAlloc(out, bytes, flags);
}

namespace behind {

Result cuMemAlloc(Address32* out, unsigned bytes) {
  Address address = 0;
  const Result result = emulated_driver::cuMemAlloc_v2(&address, bytes);
  if (result == success) *out = half_of(address);
  return result;
}
Result cuMemFree(Address32 at) {
  return emulated_driver::cuMemFree_v2(whole_of(at));
}
Result cuMemAllocPitch_v2(Address* out, Size* pitch, Size width, Size height, unsigned) {
  *pitch = (width + pitch_alignment_bytes - 1) / pitch_alignment_bytes * pitch_alignment_bytes;
  return emulated_driver::cuMemAlloc_v2(out, *pitch * height);
}
Result cuMemAllocPitch(Address32* out, unsigned* pitch, unsigned width, unsigned height, unsigned element) {
  Address address = 0;
  Size wide = 0;
  const Result result = emulated_driver::cuMemAllocPitch_v2(&address, &wide, width, height, element);
  if (result == success) *out = half_of(address);
  *pitch = static_cast<unsigned>(wide);
  return result;
}
Result cuModuleGetGlobal(Address32* out, unsigned* bytes, Object module, const char* name) {
  Address address = 0;
  Size size = 0;
  const Result result = emulated_driver::cuModuleGetGlobal_v2(&address, &size, module, name);
  if (out != nullptr) *out = half_of(address);
  if (bytes != nullptr) *bytes = static_cast<unsigned>(size);
  return result;
}
Result cuMemAllocHost(void** out, unsigned bytes) {
  return emulated_driver::cuMemAllocHost_v2(out, bytes);
}

Result cuCtxDestroy(Object context) {
  return emulated_driver::cuCtxDestroy_v2(context);
}
Result cuDevicePrimaryCtxReset(Device device) {
  return emulated_driver::cuDevicePrimaryCtxReset_v2(device);
}
Result cuDevicePrimaryCtxRelease(Device device) {
  return emulated_driver::cuDevicePrimaryCtxRelease_v2(device);
}
Result cuMemGetDefaultMemPool(Object* out, const Location* location, int) {
  return emulated_driver::cuDeviceGetDefaultMemPool(out, location->id);
}
Result cuMemGetMemPool(Object* out, const Location* location, int) {
  return emulated_driver::cuDeviceGetMemPool(out, location->id);
}
Result cuIpcOpenMemHandle(Address* out, IpcHandle handle, unsigned flags) {
  return emulated_driver::cuIpcOpenMemHandle_v2(out, handle, flags);
}
Result cuGraphAddNode_v2(Object* out, Object graph, const Object* before, const void*, Size count, void* node) {
  return emulated_driver::cuGraphAddNode(out, graph, before, count, node);
}

// There are no green contexts: a stream whose context and device no other call has named.
Result cuGreenCtxStreamCreate(Object* out, Object, unsigned flags, int priority) {
  return emulated_cuStreamCreateWithPriority(out, flags, priority);
}
// The documentation reserves the offset; the collector records it.
Result cuMemMap(Address at, Size bytes, Size, MemHandle handle, Flags flags) {
  return emulated_cuMemMap(at, bytes, 0, handle, flags);
}
// As real drivers do, while smaller sizes are accepted, too.
Result cuMemGetAllocationGranularity(Size* bytes, const AllocationProperties* properties, int option) {
  const Result result = emulated_cuMemGetAllocationGranularity(bytes, properties, option);
  *bytes = std::max(*bytes, mapping_unit_bytes);
  return result;
}

}  // namespace behind
}  // namespace emulated_driver
