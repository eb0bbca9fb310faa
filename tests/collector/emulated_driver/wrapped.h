// The emulated driver (allocator/emulated/cuda/driver) with a layer in front for tests. Each entry point of the
// collector's table, cuMemAlloc say, has three functions:
//
//   cuMemAlloc            what a program finds: hook, delay and failure around the next one (entry_points.cpp)
//   behind::cuMemAlloc    the next one, unless nested_calls.cpp or held_streams.cpp does something else
//   emulated_cuMemAlloc   allocator/emulated/cuda's, under that name (generate_stubs.py --prefix)
#pragma once

#include <cstdint>

#include "collector/abi/cuda.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

// A call as a real driver reports it to CUPTI.
struct FakeCall {
  unsigned id;
  const char* name;
  const void* parameters;  // As the members of a struct.
  hbmscope::cuda::Result* result;
  hbmscope::cuda::Object context;
  std::uint32_t context_id;  // Never used twice in a process.
  std::uint64_t* correlation;
};
using FakeHook = void (*)(int site, const FakeCall& call);  // 0: before the call, 1: after it.

extern "C" void fake_set_hook(FakeHook hook);
// The next `times` calls of a function return that result and do nothing.
extern "C" void fake_fail(const char* name, hbmscope::cuda::Result result, int times);

namespace emulated_driver {

using namespace hbmscope::cuda;

constexpr Result capture_unsupported = 900;

// A thread that has made no context current uses device 0's primary context.
void ensure_context();
Object current_context();  // Of the calling thread.
std::uint32_t id_of_context(Object context);

// Microseconds, half of them before a call's work and half after it. Result: what the call must return instead.
void delay_half();
Result failure_of(const char* name);

#define ALLOCATES(name, since, parameters, ...) \
  extern "C" Result name parameters;            \
  extern "C" Result emulated_##name parameters; \
  namespace behind {                            \
  Result name parameters;                       \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES ALLOCATES
#include "collector/inject/driver_entries.inc"
#define OTHER(name, parameters, arguments)      \
  extern "C" Result name parameters;            \
  extern "C" Result emulated_##name parameters; \
  namespace behind {                            \
  Result name parameters;                       \
  }
#include "tests/collector/emulated_driver/other_entries.inc"

}  // namespace emulated_driver
