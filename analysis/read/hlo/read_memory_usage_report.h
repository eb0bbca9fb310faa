// XLA's memory-usage-report, as text or as a message: by memory space, then by allocation, largest first. It does not
// distinguish arguments from temporaries.
//
//   Memory Space: default (color=0)
//   Total bytes: 302104576 (288.11MiB)
//     cumulative_size;       size;       offset; used_by_n_values; shapes_list
//     ------------------------------------------------------------
//      32.00MiB(100%);   32.00MiB;       114688;                3; 3xbf16[4096,4096]
//
// Only the largest allocations are listed; the rest of a total becomes one block. Each allocation begins with the line
// of column names. In the text, sizes are rounded and totals are exact; the message has exact sizes throughout.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

// Decides by the first 64 bytes.
bool looks_like_memory_usage_report(std::span<const std::uint8_t> bytes);

// Errors: no memory space in it; cut off or damaged.
Result<Program> read_memory_usage_report(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace hbmscope::hlo
