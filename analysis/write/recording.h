// A trace as a recording on disk: its blocks as they are, streams one after the other.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/result.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Returns the bytes written. Errors: a file that can't be written. It is complete, or it is not there: what is written
// goes to a file beside it first.
Result<std::uint64_t> write_recording(const Trace& trace, const std::string& path);

}  // namespace hbmscope
