// The same bytes as other heaps of a trace see them: the driver's allocation around a pool's block, the array in it, or
// the block as another file of the same job has it (a log, a memory dump, a recording).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/query/block_history.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct SameMemory {
  std::size_t stream = 0;
  std::uint32_t heap = 0;
  PlaceAt place;      // A block.
  std::string label;  // The heap's (trace/stream_names.h).
};

// Blocks of other heaps of the same process (trace/same_process.h) over the first byte of `range`, which is a block of
// a heap. Compiled programs have no addresses of a process (program_parts.h).
std::vector<SameMemory> find_same_memory(const Trace& trace, const std::vector<StreamState>& states, std::size_t stream,
                                         std::uint32_t heap, AddressRange range);

}  // namespace hbmscope
