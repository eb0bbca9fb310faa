// Declarations shared by the parts of the fake driver, and the hook that reports its calls to a fake CUPTI.
#pragma once

#include <cstdint>

#include "collector/inject/driver_types.h"

// A call as a real driver reports it to CUPTI.
struct FakeCall {
  unsigned id;
  const char* name;
  const void* parameters;  // As the members of a struct.
  hbmscope::inject::driver::Result* result;
  hbmscope::inject::driver::Object context;
  std::uint64_t* correlation;
};
using FakeHook = void (*)(int site, const FakeCall& call);  // 0: before the call, 1: after it.

extern "C" void fake_set_hook(FakeHook hook);
extern "C" hbmscope::inject::driver::Object fake_current_context();  // Of the calling thread (contexts.cpp).

// A call from inside the hook ends the job, because with a real driver it may hang.
void end_job_if_in_hook(const char* name);

namespace fake_driver {

using namespace hbmscope::inject::driver;

constexpr Result invalid_value = 1, not_found = 500;
extern "C" Result cuCtxGetDevice(Device* device);
Device device_of(Object context);
Device device_of_stream(Object stream);  // For a stream that nobody created: the thread's device.
void give_all_of(Object context);        // Frees everything that it has allocated and not freed.
Result failure_of(const char* name);     // The result that the next call of it must return.

// The entry points of the table, and their implementations.
#define TAKES(name, since, parameters, ...) \
  extern "C" Result name parameters;        \
  namespace behind {                        \
  Result name parameters;                   \
  }
#define GIVES TAKES
#define REFUSES TAKES
#include "collector/inject/driver_entries.inc"

}  // namespace fake_driver
