// libnccl 2: communicators that know their size. Collectives finish at once and move nothing; the buffers that the real
// library takes from the device are not counted.
#include "allocator/device/libraries/exported.h"

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
const Communicator& communicator(Handle handle) {
  return *static_cast<Communicator*>(handle);
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
