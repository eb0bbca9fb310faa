// Arrays: memory whose layout only the device knows. Here they are blocks without contents: what a copy writes to an
// array is lost. An array's handle is the address of its block.
#include <algorithm>

#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

// The size of an element of a CUarray_format, or 0 where elements have no size of their own.
Bytes channel_bytes(unsigned format) {
  switch (format) {
    case 0x01:            // UNSIGNED_INT8
    case 0x08: return 1;  // SIGNED_INT8
    case 0x02:            // UNSIGNED_INT16
    case 0x09:            // SIGNED_INT16
    case 0x10: return 2;  // HALF
    case 0x03:            // UNSIGNED_INT32
    case 0x0a:            // SIGNED_INT32
    case 0x20: return 4;  // FLOAT
    default: return 0;
  }
}

template <class Extent>
Bytes plane_bytes(Extent width, Extent height, Extent depth, unsigned format, unsigned channels) {
  const auto at_least_one = [](Extent extent) { return Bytes{std::max(extent, Extent{1})}; };
  return at_least_one(width) * at_least_one(height) * at_least_one(depth) * channel_bytes(format) * channels;
}

Result create(Object* out, Bytes bytes) {
  if (out == nullptr) return error_invalid_value;
  if (current_context() == nullptr) return error_invalid_context;
  const Answer answer = LockedMachine()->allocate(current_device(), bytes, number_of(current_context()), Kind::array);
  if (answer.outcome == Outcome::ok) *out = pointer_from(answer.address);
  log(LogLevel::memory, "array of %llu bytes on device %d -> %d", static_cast<unsigned long long>(bytes),
      current_device(), result_from(answer.outcome));
  return result_from(answer.outcome);
}

template <class Extent>
Result create(Object* out, const ArrayDescriptor<Extent>& array) {
  return create(out, plane_bytes(array.width, array.height, Extent{1}, array.format, array.channels));
}
template <class Extent>
Result create(Object* out, const Array3dDescriptor<Extent>& array) {
  return create(out, plane_bytes(array.width, array.height, array.depth, array.format, array.channels));
}

Result destroy(Object array, Kind may_also_be) {
  const auto address = reinterpret_cast<Address>(array);
  const auto range = LockedMachine()->find(address);
  if (!range || (range->kind != Kind::array && range->kind != may_also_be)) return error_invalid_handle;
  wait_for_device(range->device);
  return result_from(LockedMachine()->free(address));
}

}  // namespace

HBMSCOPE_EXPORTED Result cuArrayCreate(Object* out, const ArrayDescriptor<unsigned>* array) {
  return create(out, *array);
}
HBMSCOPE_EXPORTED Result cuArrayCreate_v2(Object* out, const ArrayDescriptor<Size>* array) {
  return create(out, *array);
}
HBMSCOPE_EXPORTED Result cuArray3DCreate(Object* out, const Array3dDescriptor<unsigned>* array) {
  return create(out, *array);
}
HBMSCOPE_EXPORTED Result cuArray3DCreate_v2(Object* out, const Array3dDescriptor<Size>* array) {
  return create(out, *array);
}
HBMSCOPE_EXPORTED Result cuArrayDestroy(Object array) {
  return destroy(array, Kind::array);
}

// Each level has half the extent of the one before it, up to one element. Layers are never halved.
HBMSCOPE_EXPORTED Result cuMipmappedArrayCreate(Object* out, const Array3dDescriptor<Size>* array, unsigned levels) {
  constexpr unsigned layered = 1;
  Array3dDescriptor<Size> level = *array;
  Bytes bytes = 0;
  for (unsigned i = 0; i < std::max(levels, 1U); ++i) {
    bytes += plane_bytes(level.width, level.height, level.depth, level.format, level.channels);
    if (level.width <= 1 && level.height <= 1 && (level.depth <= 1 || (level.flags & layered) != 0)) break;
    level.width /= 2;
    level.height /= 2;
    if ((level.flags & layered) == 0) level.depth /= 2;
  }
  return create(out, bytes);
}
// It may be one of external memory.
HBMSCOPE_EXPORTED Result cuMipmappedArrayDestroy(Object array) {
  return destroy(array, Kind::imported);
}
