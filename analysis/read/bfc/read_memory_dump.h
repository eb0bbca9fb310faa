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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/bfc/bfc_dump.h"

namespace hbmscope::bfc {

// Memory dumps that belong to one failure. XLA and TensorFlow try a request again for ten seconds before they give up,
// and write a file at each attempt: PREFIX_ALLOCATOR.TIME, such as dump_GPU_0_bfc.1764229730123456, whose time is
// microseconds since 1970 (tsl/framework/bfc_allocator.cc, allocator_retry.cc).
//
// Dumps are attempts of one failure if they have the same prefix and allocator, the later ones were written within
// attempts_us_max of the first, no allocation was undone in between (num_allocs), and at least half of the bytes in use
// are in the same chunks. Files under other names stay alone.
constexpr std::int64_t attempts_us_max = 15'000'000;  // Ten seconds, and the time to write the files.

// The time in the name of a dump, in microseconds since 1970, if the name has one. `name` may be a path, and
// have endings of compression.
std::optional<std::int64_t> time_us_of_dump(std::string_view name);

struct NamedDump {
  std::string_view name;
  const Dump* dump = nullptr;
};
// Indices into `dumps`, by failure: its attempts, oldest first. Failures are in the order of their first files.
std::vector<std::vector<std::size_t>> find_attempts(std::span<const NamedDump> dumps);

// True if the bytes begin like one: an allocator's name, then bins or chunks.
bool looks_like_memory_dump(std::span<const std::uint8_t> bytes);
// Errors: damaged or cut off, with the byte. Chunks are put in address order; a region is a run of chunks without a
// gap.
Result<Dump> read_memory_dump(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::bfc
