// libcusparse: handles and versions. Functions that size a workspace are not emulated.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

namespace {
constexpr int minor_version = 6;
}

HBMSCOPE_EXPORTED Status cusparseGetVersion(Handle, int* version) {
  *version = 12000 + minor_version * 100;
  return success;
}
HBMSCOPE_EXPORTED Status cusparseGetProperty(int which, int* value) {
  return write_property(which, 12, minor_version, 9, value);
}
HBMSCOPE_EXPORTED Status cusparseCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusparseDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cusparseCreateMatDescr(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusparseDestroyMatDescr(Handle descriptor) {
  return destroy(descriptor);
}
HBMSCOPE_EXPORTED const char* cusparseGetErrorString(Status status) {
  return status == success ? "success" : "not emulated";
}
HBMSCOPE_EXPORTED const char* cusparseGetErrorName(Status status) {
  return status == success ? "CUSPARSE_STATUS_SUCCESS" : "CUSPARSE_STATUS_NOT_SUPPORTED";
}
