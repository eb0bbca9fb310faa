// libcupti: takes every request and reports no activity, so that profilers run and record the host's side.
#include <ctime>

#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

HBMSCOPE_EXPORTED Status cuptiGetVersion(unsigned* version) {
  *version = HBMSCOPE_CUDA_MAJOR == 12 ? 28 : 130000;
  return success;
}
HBMSCOPE_EXPORTED Status cuptiGetTimestamp(std::uint64_t* ns) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  return success;
}
HBMSCOPE_EXPORTED Status cuptiDeviceGetTimestamp(Handle, std::uint64_t* ns) {
  return cuptiGetTimestamp(ns);
}
HBMSCOPE_EXPORTED Status cuptiGetResultString(Status, const char** text) {
  *text = "emulated CUPTI";
  return success;
}
HBMSCOPE_EXPORTED Status cuptiSubscribe(Handle* out, void*, void*) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cuptiUnsubscribe(Handle subscriber) {
  return destroy(subscriber);
}
HBMSCOPE_EXPORTED Status cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, void** record) {
  *record = nullptr;
  return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED: no more records.
}
HBMSCOPE_EXPORTED Status cuptiActivityGetNumDroppedRecords(Handle, unsigned, std::size_t* count) {
  *count = 0;
  return success;
}

#define IDENTIFIER(name, type, value, ...)                \
  HBMSCOPE_EXPORTED Status name(__VA_ARGS__, type* out) { \
    *out = value;                                         \
    return success;                                       \
  }
IDENTIFIER(cuptiGetDeviceId, unsigned, 0, Handle)
IDENTIFIER(cuptiGetContextId, unsigned, 1, Handle)
IDENTIFIER(cuptiGetStreamIdEx, unsigned, 1, Handle, Handle, std::uint8_t)
IDENTIFIER(cuptiGetGraphId, unsigned, 1, Handle)
IDENTIFIER(cuptiGetGraphNodeId, std::uint64_t, 1, Handle)
