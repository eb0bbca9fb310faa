// A library that takes device memory while it is loaded, and gives it back while it is unloaded.
#include <dlfcn.h>

namespace library {

unsigned long long block = 0;

__attribute__((noinline)) void take_at_load() {
  const auto take = reinterpret_cast<int (*)(unsigned long long*, unsigned long)>(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
  if (take != nullptr) take(&block, 77);
  __asm__ volatile("" : : : "memory");
}

__attribute__((constructor)) void begin() {
  take_at_load();
  __asm__ volatile("" : : : "memory");
}

__attribute__((destructor)) void end() {
  const auto give = reinterpret_cast<int (*)(unsigned long long)>(dlsym(RTLD_DEFAULT, "cuMemFree_v2"));
  if (give != nullptr && block != 0) give(block);
  __asm__ volatile("" : : : "memory");
}

}  // namespace library
