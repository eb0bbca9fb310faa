// libcufft: plans that need no workspace; the real library's plans may need one.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

namespace {
int next_plan() {
  static int plans = 0;
  return __atomic_add_fetch(&plans, 1, __ATOMIC_RELAXED);
}
Status no_workspace(std::size_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  return success;
}
}  // namespace

HBMSCOPE_EXPORTED Status cufftGetVersion(int* version) {
  *version = HBMSCOPE_CUDA_MAJOR == 12 ? 11400 : 12000;
  return success;
}
HBMSCOPE_EXPORTED Status cufftGetProperty(int which, int* value) {
  return write_property(which, HBMSCOPE_CUDA_MAJOR - 1, HBMSCOPE_CUDA_MAJOR == 12 ? 4 : 0, 0, value);
}
HBMSCOPE_EXPORTED Status cufftCreate(int* plan) {
  *plan = next_plan();
  return success;
}
HBMSCOPE_EXPORTED Status cufftPlan1d(int* plan, int, int, int) {
  return cufftCreate(plan);
}
HBMSCOPE_EXPORTED Status cufftPlan2d(int* plan, int, int, int) {
  return cufftCreate(plan);
}
HBMSCOPE_EXPORTED Status cufftPlan3d(int* plan, int, int, int, int) {
  return cufftCreate(plan);
}
HBMSCOPE_EXPORTED Status cufftPlanMany(int* plan, int, int*, int*, int, int, int*, int, int, int, int) {
  return cufftCreate(plan);
}
HBMSCOPE_EXPORTED Status cufftGetSize(int, std::size_t* bytes) {
  return no_workspace(bytes);
}
HBMSCOPE_EXPORTED Status cufftMakePlan1d(int, int, int, int, std::size_t* bytes) {
  return no_workspace(bytes);
}
HBMSCOPE_EXPORTED Status cufftMakePlan2d(int, int, int, int, std::size_t* bytes) {
  return no_workspace(bytes);
}
HBMSCOPE_EXPORTED Status cufftMakePlan3d(int, int, int, int, int, std::size_t* bytes) {
  return no_workspace(bytes);
}
HBMSCOPE_EXPORTED Status cufftMakePlanMany(int, int, int*, int*, int, int, int*, int, int, int, int,
                                           std::size_t* bytes) {
  return no_workspace(bytes);
}
HBMSCOPE_EXPORTED Status cufftMakePlanMany64(int, int, long long*, long long*, long long, long long, long long*,
                                             long long, long long, int, long long, std::size_t* bytes) {
  return no_workspace(bytes);
}
HBMSCOPE_EXPORTED Status cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int, long long*,
                                             long long, long long, int, long long, std::size_t* bytes, int) {
  return no_workspace(bytes);
}
