// XLA's dumps of a compiled program's memory, as a trace: HloProto, BufferAssignmentProto, buffer-assignment.txt,
// memory-usage-report.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// By the first 64 bytes.
bool looks_like_hlo(std::span<const std::uint8_t> bytes);

// Heaps of the memory spaces; the program's figures are counters (trace/told_figures.h). Errors: those of the formats.
Result<Trace> read_hlo(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr);

}  // namespace hbmscope
