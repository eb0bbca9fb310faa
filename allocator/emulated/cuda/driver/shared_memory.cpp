// Memory that other processes and other libraries own, and that is opened here. Such memory counts for its owner.
#include <cstring>

#include "allocator/emulated/cuda/driver/objects.h"

using namespace hbmscope::device;
using namespace hbmscope::device::driver;

namespace {

// What a handle carries between processes: the opened addresses are of that size and do not share its contents.
struct SharedBlock {
  Address address;
  Bytes bytes;
  int device;
};
static_assert(sizeof(SharedBlock) <= sizeof(IpcHandle));

Result share(IpcHandle* out, Address address, Kind kind) {
  const auto range = LockedMachine()->find(address);
  if (!range || range->kind != kind) return error_invalid_value;
  const SharedBlock block{range->begin, range->bytes, range->device};
  std::memset(out, 0, sizeof(*out));
  std::memcpy(out->bytes, &block, sizeof(block));
  return success;
}

Result open(Address* out, Bytes bytes, int device) {
  const Answer answer = LockedMachine()->open_import(device, bytes);
  if (answer.outcome == Outcome::ok) *out = answer.address;
  return result_from(answer.outcome);
}

struct ExternalMemory {
  Bytes bytes;
};

}  // namespace

HBMSCOPE_EXPORTED Result cuIpcGetMemHandle(IpcHandle* out, Address address) {
  return share(out, address, Kind::device);
}
HBMSCOPE_EXPORTED Result cuIpcOpenMemHandle_v2(Address* out, IpcHandle handle, unsigned) {
  SharedBlock block;
  std::memcpy(&block, handle.bytes, sizeof(block));
  return open(out, block.bytes, current_device());
}
HBMSCOPE_EXPORTED Result cuIpcCloseMemHandle(Address address) {
  const auto range = LockedMachine()->find(address);
  if (!range || range->kind != Kind::imported) return error_invalid_value;
  return result_from(LockedMachine()->free(address));
}

HBMSCOPE_EXPORTED Result cuMemPoolExportPointer(IpcHandle* out, Address address) {
  return share(out, address, Kind::pooled);
}
HBMSCOPE_EXPORTED Result cuMemPoolImportPointer(Address* out, Object, const IpcHandle* shared) {
  SharedBlock block;
  std::memcpy(&block, shared->bytes, sizeof(block));
  return open(out, block.bytes, block.device);
}

// Memory of another API, as of Vulkan.
HBMSCOPE_EXPORTED Result cuImportExternalMemory(Object* out, const ExternalMemoryDescriptor* descriptor) {
  if (descriptor->bytes == 0) return error_invalid_value;
  *out = new ExternalMemory{descriptor->bytes};
  return success;
}
HBMSCOPE_EXPORTED Result cuExternalMemoryGetMappedBuffer(Address* out, Object memory,
                                                         const ExternalBufferDescriptor* buffer) {
  const Bytes whole = static_cast<ExternalMemory*>(memory)->bytes;
  if (buffer->offset > whole || buffer->bytes > whole - buffer->offset) return error_invalid_value;
  return open(out, buffer->bytes, current_device());
}
// The handle of an array is an address (arrays.cpp): here of the memory that is left behind the offset.
HBMSCOPE_EXPORTED Result cuExternalMemoryGetMappedMipmappedArray(Object* out, Object memory,
                                                                 const ExternalArrayDescriptor* array) {
  const Bytes whole = static_cast<ExternalMemory*>(memory)->bytes;
  if (array->offset >= whole) return error_invalid_value;
  Address address = 0;
  const Result result = open(&address, whole - array->offset, current_device());
  *out = pointer_from(address);
  return result;
}
HBMSCOPE_EXPORTED Result cuDestroyExternalMemory(Object memory) {
  delete static_cast<ExternalMemory*>(memory);
  return success;
}
