// A library that is linked with the driver, as a job loads and unloads one: the driver goes with it.
#include <stddef.h>

int cuMemAlloc_v2(unsigned long long* out, size_t bytes);
int cuMemFree_v2(unsigned long long at);

// Allocates and frees. Returns the first error, or 0.
int take_and_give(size_t bytes);
int take_and_give(size_t bytes) {
  unsigned long long at = 0;
  const int result = cuMemAlloc_v2(&at, bytes);
  return result != 0 ? result : cuMemFree_v2(at);
}
