// Reads a recording as a trace. From a file that was cut off (the job was killed, the disk was full) or changed, it
// reads what is intact; the import statistics list the losses with their places.
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

// Errors: not a recording, a newer version, no intact block, blocks that inflate to more than the limit in total;
// cancelled. `control` may receive parts, and may stop the reader early.
Result<Trace> read_recording(std::span<const std::uint8_t> bytes, const std::string& name,
                             std::uint64_t max_inflated_bytes = std::uint64_t{4} << 30, ReadControl* control = nullptr);

// Reads only definitions, counts, peaks and curves of bytes in use (Stream::Keeps::curves), at a third of the cost and
// in little memory. Reads everything if that is not possible, for example because events were lost. `control` receives
// no parts, and may cancel.
Result<Trace> read_recording_curves(std::span<const std::uint8_t> bytes, const std::string& name,
                                    std::uint64_t max_inflated_bytes, ReadControl* control = nullptr);

extern const Format recording_format;

}  // namespace hbmscope
