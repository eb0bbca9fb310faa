// libcublas: handles and their settings. Products are not computed, and outputs keep what they had.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

namespace {
constexpr int minor_version = HBMSCOPE_CUDA_MAJOR == 12 ? 9 : 0, patch_version = 1;
constexpr int version = HBMSCOPE_CUDA_MAJOR * 10000 + minor_version * 100 + patch_version;
}  // namespace

HBMSCOPE_EXPORTED Status cublasCreate_v2(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cublasDestroy_v2(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cublasGetVersion_v2(Handle, int* out) {
  *out = version;
  return success;
}
HBMSCOPE_EXPORTED Status cublasGetProperty(int which, int* value) {
  return write_property(which, HBMSCOPE_CUDA_MAJOR, minor_version, patch_version, value);
}
HBMSCOPE_EXPORTED std::size_t cublasGetCudartVersion() {
  return std::size_t{HBMSCOPE_CUDA_MAJOR} * 1000;
}

#define SETTING(set, get, type, member)                      \
  HBMSCOPE_EXPORTED Status set(Handle handle, type value) {  \
    settings_of(handle).member = value;                      \
    return success;                                          \
  }                                                          \
  HBMSCOPE_EXPORTED Status get(Handle handle, type* value) { \
    *value = settings_of(handle).member;                     \
    return success;                                          \
  }
SETTING(cublasSetStream_v2, cublasGetStream_v2, Handle, stream)
SETTING(cublasSetMathMode, cublasGetMathMode, int, math_mode)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, pointer_mode)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics_mode)
SETTING(cublasSetSmCountTarget, cublasGetSmCountTarget, int, sm_target)

HBMSCOPE_EXPORTED const char* cublasGetStatusString(Status status) {
  return status == success ? "success" : "not emulated";
}
HBMSCOPE_EXPORTED const char* cublasGetStatusName(Status status) {
  return status == success ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}

// Factorisations that say on the host whether their parameters were right; PyTorch asserts it.
#define ON_THE_HOST(name, parameters)        \
  HBMSCOPE_EXPORTED Status name parameters { \
    launch_on(settings_of(handle).stream);   \
    *info = 0;                               \
    return success;                          \
  }
#define ON_THE_HOST_OF_TYPES(routine, parameters) \
  ON_THE_HOST(cublasS##routine, parameters)       \
  ON_THE_HOST(cublasD##routine, parameters)       \
  ON_THE_HOST(cublasC##routine, parameters)       \
  ON_THE_HOST(cublasZ##routine, parameters)
ON_THE_HOST_OF_TYPES(geqrfBatched, (Handle handle, int, int, void* const[], int, void* const[], int* info, int))
ON_THE_HOST_OF_TYPES(gelsBatched,
                     (Handle handle, int, int, int, int, void* const[], int, void* const[], int, int* info, int*, int))
