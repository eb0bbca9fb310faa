// libcurand: generators that write nothing.
#include "allocator/emulated/cuda/libraries/common.h"

using namespace hbmscope::device::libraries;

HBMSCOPE_EXPORTED Status curandCreateGenerator(Handle* out, int) {
  return create(out);
}
HBMSCOPE_EXPORTED Status curandDestroyGenerator(Handle generator) {
  return destroy(generator);
}
HBMSCOPE_EXPORTED Status curandGetVersion(int* version) {
  *version = 10309;
  return success;
}
