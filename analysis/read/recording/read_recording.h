// A recording as a trace. A file that was cut off (the job was killed, the disk was full) or changed gives what is
// whole of it; what is lost is in the import statistics with its place.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

bool looks_like_recording(std::span<const std::uint8_t> bytes);

// Errors: no recording, one of a newer version, one without a single whole block, blocks that inflate to more than the
// limit in all; cancelled. `control` may be handed parts, and may stop it where it is.
Result<Trace> read_recording(std::span<const std::uint8_t> bytes, const std::string& name,
                             std::uint64_t max_inflated_bytes = std::uint64_t{4} << 30, ReadControl* control = nullptr);

// Of its streams definitions, counts, peaks and curves of bytes in use alone (Stream::Keeps::curves), at a third of the
// price and in little memory; everything where they can't be had without, as where events were lost. `control` gets
// no parts, and may cancel it.
Result<Trace> read_recording_curves(std::span<const std::uint8_t> bytes, const std::string& name,
                                    std::uint64_t max_inflated_bytes, ReadControl* control = nullptr);

extern const Format recording_format;

}  // namespace hbmscope
