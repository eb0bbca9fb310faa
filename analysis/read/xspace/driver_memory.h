// What CUPTI reports about the driver's own memory, in the planes of devices: statistics of events, as texts such as
// "kind:device num_bytes:2097152 addr:0x00007f0000000000" (xla/backends/profiler/gpu/cupti_collector.cc). Calls that
// allocate or free have no address, so no free can be matched. Residencies have one, but only those that began while
// the profile ran are there: a heap of them would be smaller than the pools that lie in the driver's memory. So they
// are only counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/read/xspace/xspace.h"

namespace hbmscope::xspace {

struct DriverMemory {
  std::uint64_t allocations = 0, frees = 0, residencies = 0;
  std::string_view largest;  // The text of the largest allocation or residency.
};

DriverMemory count_driver_memory(const Space& space);

}  // namespace hbmscope::xspace
