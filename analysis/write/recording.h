// A trace as a recording on disk: its blocks as they are, streams one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

enum class Paths : std::uint8_t { as_they_are, stripped };  // Stripped: see strip_paths.h.

// Returns the bytes written. Errors: a file that can't be written; those of for_each_stripped_block. It is complete, or
// it is not there: what is written goes to a file beside it first.
Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path, Paths paths = Paths::as_they_are);

}  // namespace hbmscope
