// libnccl 2: communicators that know their size. Collectives work as if every rank had this rank's data, and need no
// other process: what is gathered is as many copies. (A sum is not multiplied.) Frameworks compare ranks that way
// before they train. The buffers that the real library takes from the device are not counted.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

namespace {
struct Communicator {
  int ranks, rank, device;
};
struct UniqueId {
  char bytes[128];
};
constexpr int version = 22809;

Status create_communicator(Handle* out, int ranks, int rank, int device) {
  *out = new Communicator{ranks, rank, device};
  return success;
}
Status destroy_communicator(Handle handle) {
  delete static_cast<Communicator*>(handle);
  return success;
}
std::size_t bytes_of_type(int type) {  // ncclDataType_t
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? bytes[type] : 1;
}

Status copy(void* to, const void* from, std::size_t bytes, Handle stream) {
  using Copy = int (*)(std::uint64_t, std::uint64_t, std::size_t, Handle);
  static const auto driver_copy = reinterpret_cast<Copy>(find_in_driver("cuMemcpyAsync"));
  if (to != from && driver_copy != nullptr)
    driver_copy(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), bytes, stream);
  return success;
}

const Communicator& communicator(Handle handle) {
  return *static_cast<Communicator*>(handle);
}

// The result would be another one with the other ranks' data.
Status copy_reduced(void* to, const void* from, std::size_t bytes, Handle handle, Handle stream) {
  copy(to, from, bytes, stream);
  static const auto note_launch = reinterpret_cast<void (*)()>(find_in_driver("hbmscope_device_note_launch"));
  if (communicator(handle).ranks > 1 && note_launch != nullptr) note_launch();
  return success;
}
}  // namespace

HBMSCOPE_EXPORTED Status ncclGetVersion(int* out) {
  *out = version;
  return success;
}
HBMSCOPE_EXPORTED const char* ncclGetErrorString(Status status) {
  return status == success ? "no error" : "not emulated";
}
HBMSCOPE_EXPORTED const char* ncclGetLastError(Handle) {
  return "";
}
HBMSCOPE_EXPORTED Status ncclGetUniqueId(UniqueId* id) {
  std::memset(id, 0, sizeof(*id));
  return success;
}
HBMSCOPE_EXPORTED Status ncclCommInitRank(Handle* out, int ranks, UniqueId, int rank) {
  return create_communicator(out, ranks, rank, 0);
}
HBMSCOPE_EXPORTED Status ncclCommInitRankConfig(Handle* out, int ranks, UniqueId, int rank, void*) {
  return create_communicator(out, ranks, rank, 0);
}
HBMSCOPE_EXPORTED Status ncclCommInitRankScalable(Handle* out, int ranks, int rank, int, UniqueId*, void*) {
  return create_communicator(out, ranks, rank, 0);
}
HBMSCOPE_EXPORTED Status ncclCommInitAll(Handle* out, int count, const int* devices) {
  for (int rank = 0; rank < count; ++rank)
    create_communicator(out + rank, count, rank, devices == nullptr ? rank : devices[rank]);
  return success;
}
HBMSCOPE_EXPORTED Status ncclCommSplit(Handle parent, int, int, Handle* out, void*) {
  const Communicator copy = communicator(parent);
  return create_communicator(out, copy.ranks, copy.rank, copy.device);
}
HBMSCOPE_EXPORTED Status ncclCommDestroy(Handle handle) {
  return destroy_communicator(handle);
}
HBMSCOPE_EXPORTED Status ncclCommAbort(Handle handle) {
  return destroy_communicator(handle);
}
HBMSCOPE_EXPORTED Status ncclCommCount(Handle handle, int* count) {
  *count = communicator(handle).ranks;
  return success;
}
HBMSCOPE_EXPORTED Status ncclCommUserRank(Handle handle, int* rank) {
  *rank = communicator(handle).rank;
  return success;
}
HBMSCOPE_EXPORTED Status ncclCommCuDevice(Handle handle, int* device) {
  *device = communicator(handle).device;
  return success;
}
HBMSCOPE_EXPORTED Status ncclCommGetAsyncError(Handle, Status* error) {
  *error = success;
  return success;
}

HBMSCOPE_EXPORTED Status ncclAllGather(const void* from, void* to, std::size_t count, int type, Handle handle,
                                       Handle stream) {
  const std::size_t bytes = count * bytes_of_type(type);
  for (int rank = 0; rank < communicator(handle).ranks; ++rank)
    copy(static_cast<char*>(to) + static_cast<std::size_t>(rank) * bytes, from, bytes, stream);
  return success;
}
HBMSCOPE_EXPORTED Status ncclAllReduce(const void* from, void* to, std::size_t count, int type, int, Handle handle,
                                       Handle stream) {
  return copy_reduced(to, from, count * bytes_of_type(type), handle, stream);
}
HBMSCOPE_EXPORTED Status ncclReduce(const void* from, void* to, std::size_t count, int type, int, int root,
                                    Handle handle, Handle stream) {
  if (root != communicator(handle).rank) return success;
  return copy_reduced(to, from, count * bytes_of_type(type), handle, stream);
}
HBMSCOPE_EXPORTED Status ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, Handle handle,
                                       Handle stream) {
  return root == communicator(handle).rank ? copy(to, from, count * bytes_of_type(type), stream) : success;
}
HBMSCOPE_EXPORTED Status ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int, Handle handle,
                                           Handle stream) {
  const std::size_t bytes = count * bytes_of_type(type);
  const char* part = static_cast<const char*>(from) + static_cast<std::size_t>(communicator(handle).rank) * bytes;
  return copy_reduced(to, part, bytes, handle, stream);
}
