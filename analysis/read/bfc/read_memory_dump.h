// The file that XLA and TensorFlow write at each failure if TF_BFC_MEMORY_DUMP=PREFIX is set: a serialized
// tensorflow.MemoryDump (xla/tsl/protobuf/bfc_memory_map.proto), with every chunk of the pool.
//
//   MemoryDump        1 allocator_name, 2 bin_summary, 3 chunk, 4 snap_shot, 5 stats
//   BinSummary        1 bin, 2 total_bytes_in_use, 3 total_bytes_in_bin, 4 total_chunks_in_use, 5 total_chunks_in_bin
//   MemChunk          1 address, 2 size, 3 requested_size, 4 bin, 5 op_name, 6 freed_at_count, 7 action_count, 8
//   in_use,
//                     9 step_id
//   MemAllocatorStats 1 num_allocs, 2 bytes_in_use, 3 peak_bytes_in_use, 4 largest_alloc_size, 5 fragmentation_metric
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/bfc/bfc_dump.h"

namespace hbmscope::bfc {

// True if the bytes begin like one: an allocator's name, then bins or chunks.
bool looks_like_memory_dump(std::span<const std::uint8_t> bytes);
// Errors: damaged or cut off, with the byte. Chunks are put in address order; a region is a run of chunks without a
// gap.
Result<Dump> read_memory_dump(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::bfc
