// Reads XLA's dumps of a compiled program's memory as a trace: HloProto, BufferAssignmentProto, buffer-assignment.txt,
// memory-usage-report, live-range.txt, and the text of the HLO itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

// Decides by the beginning.
bool looks_like_hlo(std::span<const std::uint8_t> bytes);
// Recognises a -live-range.txt, which has the sizes of only some values.
bool looks_like_live_ranges(std::span<const std::uint8_t> bytes);

// Facts about the program that are not in the dump.
struct HloExtras {
  std::span<const std::uint8_t> live_ranges;  // The -live-range.txt of a buffer-assignment.txt, if there is one.
  std::optional<std::uint64_t> code_bytes;    // The size of the generated code, from the compiler.
};

// Each memory space is a heap; the program's figures are counters (trace/reported_figures.h). Errors: those of the
// formats.
Result<Trace> read_hlo(std::span<const std::uint8_t> bytes, const std::string& name, ReadControl* control = nullptr,
                       const HloExtras& beside = {});

// Without the buffer assignment: the values at the peak. Error: there is no peak in it.
Result<Trace> read_live_ranges_alone(std::span<const std::uint8_t> bytes, const std::string& name,
                                     ReadControl* control = nullptr);

// A -live-range.txt is a separate format: it has the times of values, and the buffer assignment next to it the offsets.
extern const Format hlo_format;
extern const Format live_range_format;

}  // namespace hbmscope
