// Calls every entry point of the table twice: once out of memory, once with another error, which must come back as they
// are. Prints the names in the order of the calls.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>
#include <type_traits>

#include "collector/abi/hip.h"

// Whose entry points: those of the CUDA driver, or of AMD's HIP runtime.
#ifdef OF_HIP
#define ENTRIES "collector/inject/hip_entries.inc"
#define LIBRARY "libamdhip64.so.6"
#else
#define ENTRIES "collector/inject/driver_entries.inc"
#define LIBRARY "libcuda.so.1"
#endif

using namespace hbmscope::cuda;
using namespace hbmscope::hip;

namespace {

alignas(64) unsigned char anything[4096];

template <class T>
T some_argument() {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(anything);
  else if constexpr (std::is_class_v<T>)
    return T{};
  else
    return T{1};
}

template <class... Arguments>
bool is_passed_on(const char* name, Result (*entry)(Arguments...), void (*fail)(const char*, Result, int)) {
  for (const Result wanted : {error_out_of_memory, 999}) {
    fail(name, wanted, 1);
    if (const Result result = entry(some_argument<Arguments>()...); result != wanted) {
      std::fprintf(stderr, "%s: %d instead of %d\n", name, result, wanted);
      return false;
    }
  }
  std::printf("%s\n", name);
  return true;
}

}  // namespace

int main() {
  void* library = dlopen(LIBRARY, RTLD_NOW);
  const auto fail = reinterpret_cast<void (*)(const char*, Result, int)>(dlsym(library, "fake_fail"));
  bool is_well = fail != nullptr;
#define CALL(name, since, parameters, ...) \
  is_well = is_well && is_passed_on(#name, reinterpret_cast<Result(*) parameters>(dlsym(library, #name)), fail);
#define ALLOCATES CALL
#define FREES CALL
#define REFUSES CALL
#include ENTRIES
  return is_well ? 0 : 1;
}
