// libcusolver: handles and versions. Functions that size a workspace are not emulated.
#include "allocator/device/libraries/exported.h"

using namespace hbmscope::device::libraries;

HBMSCOPE_EXPORTED Status cusolverGetVersion(int* version) {
  *version = HBMSCOPE_CUDA_MAJOR == 12 ? 11705 : 12000;
  return success;
}
HBMSCOPE_EXPORTED Status cusolverGetProperty(int which, int* value) {
  return write_property(which, HBMSCOPE_CUDA_MAJOR - 1, HBMSCOPE_CUDA_MAJOR == 12 ? 7 : 0, 5, value);
}
HBMSCOPE_EXPORTED Status cusolverDnCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cusolverSpCreate(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverSpDestroy(Handle handle) {
  return destroy(handle);
}
HBMSCOPE_EXPORTED Status cusolverDnCreateParams(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroyParams(Handle parameters) {
  return destroy(parameters);
}
HBMSCOPE_EXPORTED Status cusolverDnCreateSyevjInfo(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroySyevjInfo(Handle info) {
  return destroy(info);
}
HBMSCOPE_EXPORTED Status cusolverDnCreateGesvdjInfo(Handle* out) {
  return create(out);
}
HBMSCOPE_EXPORTED Status cusolverDnDestroyGesvdjInfo(Handle info) {
  return destroy(info);
}
