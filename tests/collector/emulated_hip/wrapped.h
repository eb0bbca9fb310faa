// An emulated libamdhip64.so. Each entry point of the collector's table, hipMalloc say, has two functions:
//
//   hipMalloc           what a program finds: delay and failure around the next one, and the last error
//   (entry_points.cpp) behind::hipMalloc   the next one: something on the emulated CUDA device (memory.cpp,
//   objects.cpp), or only success
#pragma once

#include "collector/abi/hip.h"
#include "tests/collector/emulated_driver/wrapped.h"

extern "C" hbmscope::cuda::Result cuDeviceGetCount(int* out);

namespace emulated_hip {

using namespace hbmscope::cuda;
using namespace hbmscope::hip;
using namespace emulated_driver;

constexpr Result invalid_value = 1, invalid_device = 101;

#define ALLOCATES(name, since, parameters, ...) \
  extern "C" Result name parameters;            \
  namespace behind {                            \
  Result name parameters;                       \
  }
#define FREES ALLOCATES
#define REFUSES ALLOCATES
#define RESOLVES ALLOCATES
#include "collector/inject/hip_entries.inc"

// The result of a call, which becomes the thread's last error.
Result noted(Result result);
// The calling thread's device, whose context is current on the emulated CUDA device from then on.
Device use_device();
void set_device(Device device);
// The end of the device's streams and pools, and of what was allocated from its pools.
void end_pools_of(Device device);

}  // namespace emulated_hip
