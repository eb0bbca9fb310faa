// XLA's memory-usage-report, as text and as a message: by memory space, then by allocation, the largest first. What is
// an argument and what a temporary it does not say.
//
//   Memory Space: default (color=0)
//   Total bytes: 302104576 (288.11MiB)
//     cumulative_size;       size;       offset; used_by_n_values; shapes_list
//     ------------------------------------------------------------
//      32.00MiB(100%);   32.00MiB;       114688;                3; 3xbf16[4096,4096]
//
// Only the largest allocations are listed; the rest of a total is one block of its own. An allocation begins with the
// line of column names. Sizes of the text are rounded, totals are not; the message has all to the byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

// By the first 64 bytes.
bool looks_like_memory_usage_report(std::span<const std::uint8_t> bytes);

// Errors: no memory space in it; cut off or damaged.
Result<Program> read_memory_usage_report(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::hlo
