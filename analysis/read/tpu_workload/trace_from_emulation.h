// An emulated workload as a trace: HBM of each device, with what the running program has in its part of it, and the
// on-chip memories and the host of the first device; beside it the pool of a GPU, where there is one.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/tpu/emulation/emulation.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// All devices of a mesh do the same: so many of them are in the trace at most.
inline constexpr std::uint64_t traced_devices_max = 16;

Trace trace_from_emulation(const allocator::tpu::Workload& workload, const allocator::tpu::Emulation& emulation,
                           const std::string& file, std::uint64_t bytes);

}  // namespace hbmscope
