// libcublasLt: descriptors, and one algorithm for each product, which needs no workspace. The real library chooses
// algorithms that may need one; its choice is not public.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

namespace {
constexpr int version = HBMSCOPE_CUDA_MAJOR * 10000 + (HBMSCOPE_CUDA_MAJOR == 12 ? 901 : 1);

struct HeuristicResult {  // cublasLtMatmulHeuristicResult_t
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

Status read_attribute(void* out, std::size_t bytes, std::size_t* written) {
  if (out != nullptr) std::memset(out, 0, bytes);
  if (written != nullptr) *written = bytes;
  return success;
}
}  // namespace

HBMSCOPE_EXPORTED Status cublasLtCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cublasLtDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED std::size_t cublasLtGetVersion() {
  return version;
}
HBMSCOPE_EXPORTED std::size_t cublasLtGetCudartVersion() {
  return std::size_t{HBMSCOPE_CUDA_MAJOR} * 1000;
}
HBMSCOPE_EXPORTED Status cublasLtGetProperty(int which, int* value) {
  return write_property(which, version / 10000, version / 100 % 100, version % 100, value);
}

HBMSCOPE_EXPORTED Status cublasLtMatmulDescCreate(Handle* out, int, int) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cublasLtMatmulDescDestroy(Handle descriptor) {
  return destroy(descriptor);
}
HBMSCOPE_EXPORTED Status cublasLtMatrixLayoutCreate(Handle* out, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cublasLtMatrixLayoutDestroy(Handle layout) {
  return destroy(layout);
}
HBMSCOPE_EXPORTED Status cublasLtMatmulPreferenceCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cublasLtMatmulPreferenceDestroy(Handle preference) {
  return destroy(preference);
}
HBMSCOPE_EXPORTED Status cublasLtMatrixTransformDescCreate(Handle* out, int) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cublasLtMatrixTransformDescDestroy(Handle descriptor) {
  return destroy(descriptor);
}

HBMSCOPE_EXPORTED Status cublasLtMatmulDescGetAttribute(Handle, int, void* out, std::size_t bytes,
                                                        std::size_t* written) {
  return read_attribute(out, bytes, written);
}
HBMSCOPE_EXPORTED Status cublasLtMatrixLayoutGetAttribute(Handle, int, void* out, std::size_t bytes,
                                                          std::size_t* written) {
  return read_attribute(out, bytes, written);
}
HBMSCOPE_EXPORTED Status cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle, Handle,
                                                        int wanted, HeuristicResult* results, int* count) {
  *count = wanted > 0 ? 1 : 0;
  if (wanted <= 0) return success;
  std::memset(results, 0, sizeof(*results));
  results->waves = 1;
  return success;
}

HBMSCOPE_EXPORTED Status cublasLtMatmul(Handle, Handle, const void*, const void*, Handle, const void*, Handle,
                                        const void*, const void*, Handle, void*, Handle, const void*, void*,
                                        std::size_t, Handle stream) {
  launch_on(stream);
  return success;
}
HBMSCOPE_EXPORTED Status cublasLtMatrixTransform(Handle, Handle, const void*, const void*, Handle, const void*,
                                                 const void*, Handle, void*, Handle, Handle stream) {
  launch_on(stream);
  return success;
}

HBMSCOPE_EXPORTED const char* cublasLtGetStatusString(Status status) {
  return status == success ? "success" : "not emulated";
}
HBMSCOPE_EXPORTED const char* cublasLtGetStatusName(Status status) {
  return status == success ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}
