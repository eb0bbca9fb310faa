// A trace as a recording on disk: its streams' blocks in the order of time, small ones merged into large ones.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

enum class Paths : std::uint8_t { as_they_are, stripped };  // Stripped: see strip_paths.h.

// Returns the bytes written. Every event keeps its number, time, ids and slot. What is missing stays missing: gaps
// between blocks remain as wide, and what was lost behind them is told in facts about the job (trace/reported_losses.h).
// Errors: a file that can't be written; those of for_each_stripped_block. It is complete, or it is not there: what is
// written goes to a file beside it first.
Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path, Paths paths = Paths::as_they_are);

}  // namespace hbmscope
