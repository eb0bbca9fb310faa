// An emulated workload as a trace: HBM of each device, with the running program's own allocations in it, and the
// on-chip memories and the host memory of the first device. Also the pool of a GPU for comparison, if there is one.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/emulated/tpu/emulation/emulation.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// All devices of a mesh behave the same; the trace contains at most this many.
inline constexpr std::uint64_t traced_devices_max = 16;

Trace trace_from_emulation(const allocator::tpu::Workload& workload, const allocator::tpu::Emulation& emulation,
                           const std::string& file, std::uint64_t bytes);

}  // namespace hbmscope
