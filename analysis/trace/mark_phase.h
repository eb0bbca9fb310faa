// What marks of a stream are: the values of Mark::phase (stream.h), as markers have them in a stream
// (collector/wire/records.h, MarkerRecord).
#pragma once

#include <cstdint>
#include <string_view>

namespace hbmscope {
namespace mark_phase {

inline constexpr std::uint8_t instant = 0, begins = 1, ends = 2;

}  // namespace mark_phase

// The name of a mark where a log prints memory and gives no number of a step begins so; the line's number follows.
inline constexpr std::string_view step_of_log = "step of the log";

}  // namespace hbmscope
