// One line of the text that a BFC allocator logs when a request fails (xla/tsl/framework/bfc_allocator.cc, and
// tensorflow/core/common_runtime/bfc_allocator.cc before it), in the wordings since TensorFlow 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/read/bfc/bfc_dump.h"

namespace hbmscope::bfc {

enum class LineKind : std::uint8_t {
  other,        // Not of a dump.
  headline,     // "Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.72GiB (rounded to 4000000000)..."
  no_retry,     // The same "with freed_by_count=0.": a line of its own, without a dump.
  follows,      // "Current allocation summary follows.", and the hint before it.
  begin,        // "BFCAllocator dump for GPU_0_bfc"
  bin,          // "Bin (256): Total Chunks: 85, Chunks in use: 85. ..."
  request_bin,  // "Bin for 3.72GiB was 256.00MiB, Chunk State:"
  bin_chunk,    // "Size: 2.79GiB | Requested Size: 0B | in_use: 0 | bin_num: 20, prev: ..."
  region,       // "Next region of size 18995773440"
  chunk,        // "InUse at 7f41b2000000 of size 256 next 1"
  by_size,      // "Summary of in-use Chunks by size:", "85 Chunks of size 256 totalling 21.2KiB"
  in_use_sum,   // "Sum Total of in-use chunks: 14.90GiB"
  pool,         // "Total bytes in pool: ...", "Total size in pool: ...", "Allocator memory summary: ..."
  growth,       // "Allocator region growth hint: ...", "Spatial partitioning summary ..."
  statistics,   // "Stats:"
  statistic,    // "Limit: 18995773440"
  map,          // "****___***": a character per hundredth of the pool.
};

struct Line {
  LineKind kind = LineKind::other;
  std::string_view text;     // Without the prefix of the logging library.
  std::uint64_t thread = 0;  // As the prefix names it, or 0 if it does not.
  bool has_prefix = false;   // The prefix names bfc_allocator.cc.
};

// Finds out what a line is, without reading its figures. `text` has no colours and no line end.
Line classify_line(std::string_view text);

// Adds the figures of a line to the dump. Lines whose figures are cut off add what they have.
void read_headline(std::string_view text, Dump& dump);
void read_begin(std::string_view text, Dump& dump);
void read_bin(std::string_view text, Dump& dump);
void read_bin_chunk(std::string_view text, Dump& dump);
void read_pool(std::string_view text, Dump& dump);
void read_statistic(std::string_view text, Dump& dump);

struct ChunkLine {
  Chunk chunk;
  std::string op;  // Empty: not named.
};
std::optional<ChunkLine> read_chunk(std::string_view text);
// The size after "Next region of size", or after "Sum Total of in-use chunks:".
MaybeBytes read_size_after(std::string_view text, std::string_view words);

}  // namespace hbmscope::bfc
