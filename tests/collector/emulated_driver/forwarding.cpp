// A library in front of the driver, as HAMi-core and WSL's libcuda.so.1 are: it has the driver's names, loads the next
// driver, whose path is in FORWARDS_TO_1 (or _2: FORWARDING_NUMBER), and forwards every call to what it finds there
// with dlsym. It counts the calls of cuMemAlloc_v2 and appends their number to the file FORWARDED_CALLS at the end.
//
//   FORWARDING_LOOKS_UP=at_start   looks up all functions when it is loaded; otherwise each at its first call
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collector/abi/cuda.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

using namespace hbmscope::cuda;

namespace {

std::atomic<unsigned long> allocations{0};

void* next_driver() {
  static void* const handle = [] {
    const char* path = std::getenv(FORWARDING_NUMBER == 1 ? "FORWARDS_TO_1" : "FORWARDS_TO_2");
    return path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  }();
  return handle;
}

void* find_next(const char* name) {
  return next_driver() != nullptr ? dlsym(next_driver(), name) : nullptr;
}

}  // namespace

// What is called next, kept in a table as generated forwarders do.
#define ALLOCATES(name, since, parameters, arguments, ...)                                               \
  static Result(*next_##name) parameters = nullptr;                                                      \
  EXPORTED Result name parameters {                                                                      \
    if (std::strcmp(#name, "cuMemAlloc_v2") == 0) ++allocations;                                         \
    if (next_##name == nullptr) next_##name = reinterpret_cast<decltype(next_##name)>(find_next(#name)); \
    return next_##name != nullptr ? next_##name arguments : error_no_device;                             \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES(name, since, parameters, arguments)                                                                 \
  static Result(*next_##name) parameters = nullptr;                                                                  \
  EXPORTED Result name parameters {                                                                                  \
    if (next_##name == nullptr) next_##name = reinterpret_cast<decltype(next_##name)>(find_next(#name));             \
    if (next_##name == nullptr) return error_no_device;                                                              \
    const Result result = next_##name arguments;                                                                     \
    if (result == success && std::strcmp(symbol, "cuMemAlloc") == 0) *out = reinterpret_cast<void*>(&cuMemAlloc_v2); \
    return result;                                                                                                   \
  }
#include "collector/inject/driver_entries.inc"
#define OTHER(name, parameters, arguments)                                             \
  EXPORTED Result name parameters {                                                    \
    static const auto next = reinterpret_cast<Result(*) parameters>(find_next(#name)); \
    return next != nullptr ? next arguments : error_no_device;                         \
  }
OTHER(cuCtxSetCurrent, (Object context), (context))
OTHER(cuDriverGetVersion, (int* version), (version))
OTHER(cuInit, (unsigned flags), (flags))
#include "tests/collector/emulated_driver/other_entries.inc"

__attribute__((constructor)) static void look_up_at_start() {
  const char* when = std::getenv("FORWARDING_LOOKS_UP");
  if (when == nullptr || std::strcmp(when, "at_start") != 0) return;
#define ALLOCATES(name, ...) next_##name = reinterpret_cast<decltype(next_##name)>(find_next(#name));
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES ALLOCATES
#include "collector/inject/driver_entries.inc"
}

__attribute__((destructor)) static void report() {
  const char* path = std::getenv("FORWARDED_CALLS");
  std::FILE* out = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (out == nullptr) return;
  std::fprintf(out, "%lu\n", allocations.load());
  std::fclose(out);
}
