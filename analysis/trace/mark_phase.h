// The values of Mark::phase (stream.h), as markers have them in a stream (collector/wire/records.h, MarkerRecord).
#pragma once

#include <cstdint>

namespace hbmscope::mark_phase {

inline constexpr std::uint8_t instant = 0, begins = 1, ends = 2;

}  // namespace hbmscope::mark_phase
