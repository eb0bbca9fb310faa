// Texts as allocators print them, and what the log reader makes of them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/read/log/log_reader.h"
#include "analysis/read/log/trace_from_log.h"

namespace hbmscope::tests {

// The dump of a pool of 4 MiB with two chunks in use, as JAX 0.7 prints it: 1 MiB is free, 2 MiB are requested.
inline std::vector<std::string> bfc_lines(const std::string& prefix = "W1124 23:15:32.990199   29543 bfc_allocator.cc:",
                                          const std::string& base = "7f0000") {
  return {
      prefix +
          "514] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00MiB (rounded to 2097152)requested by "
          "op dot.3",
      "If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will "
      "improve the situation. ",
      "Current allocation summary follows.",
      prefix + "1092] BFCAllocator dump for GPU_0_bfc",
      prefix +
          "1099] Bin (1048576): \tTotal Chunks: 2, Chunks in use: 1. 2.00MiB allocated for chunks. 1.00MiB in use "
          "in bin. 1.00MiB client-requested in use in bin.",
      prefix + "1115] Bin for 2.00MiB was 2.00MiB, Chunk State: ",
      prefix + "1128] Next region of size 4194304",
      prefix + "1148] InUse at " + base + "000000 of size 1048576 next 1",
      prefix + "1148] Free  at " + base + "100000 of size 1048576 next 2",
      prefix + "1148] InUse at " + base + "200000 of size 2097152 next 18446744073709551615",
      prefix + "1153]      Summary of in-use Chunks by size: ",
      prefix + "1156] 1 Chunks of size 1048576 totalling 1.00MiB",
      prefix + "1156] 1 Chunks of size 2097152 totalling 2.00MiB",
      prefix + "1160] Sum Total of in-use chunks: 3.00MiB",
      prefix +
          "1162] Total bytes in pool: 4194304 memory_limit_: 4194304 available bytes: 0 "
          "curr_region_allocation_bytes_: 8388608",
      prefix + "1171] Stats: ",
      "Limit:                         4194304",
      "InUse:                         3145728",
      "MaxInUse:                      4194304",
      "NumAllocs:                           7",
      "MaxAllocSize:                  2097152",
      "Reserved:                            0",
      "PeakReserved:                        0",
      "LargestFreeBlock:                    0",
      "",
      prefix +
          "525] *************************_________________________**************************************************",
  };
}

inline std::string joined(const std::vector<std::string>& lines, std::string_view end = "\n") {
  std::string text;
  for (const std::string& line : lines) text += line + std::string(end);
  return text;
}

// Read in pieces of that size.
inline log::Findings findings_of(std::string_view text, std::size_t piece = std::string_view::npos) {
  log::LogReader reader;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
    reader.feed(rest.substr(0, piece));
  return reader.finish();
}

inline Trace trace_of(std::string_view text) {
  return log::trace_from_log(findings_of(text), "job.log", text.size());
}

}  // namespace hbmscope::tests
