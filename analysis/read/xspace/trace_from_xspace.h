// The trace of an XSpace: a heap per allocator, with its events over time, and a stream per compiled program, with its
// buffers in program order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// The row of XLA's profiles in the list of formats.
extern const Format xspace_format;

// Errors: neither allocator events nor programs with a buffer assignment; cancelled.
Result<Trace> read_xspace(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr);

}  // namespace hbmscope
