// What XLA's profiler sees of an allocator: one text for each block allocated or freed, as TraceMe encodes it
// ("MemoryAllocation#allocator_name=GPU_0_bfc,bytes_reserved=0,...#"). Such texts become the events of a profile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator {

struct TracedBlock {
  std::uint64_t address = 0, requested_bytes = 0, bytes = 0;
};

// `allocator` is in the state after the change; `name` is MemoryAllocation or MemoryDeallocation. No line end.
std::string trace_event_text(std::string_view name, const Allocator& allocator, const TracedBlock& block,
                             std::string_view allocator_name = "GPU_0_bfc");

}  // namespace hbmscope::allocator
