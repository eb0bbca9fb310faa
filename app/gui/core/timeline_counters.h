// Counters over a span of the timeline: values that the source reported over time (cuMemGetInfo, NVML, memory_stats).
#pragma once

#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr std::size_t timeline_counters_max = 3;  // The rest is left out and counted.

// Fills `counters` of the timeline, whose span and columns must be set, with the counters of its heap and those of no
// heap. Counters need at least two reports in the whole trace, except for those that say what the process holds. Those
// closest to the heap come first.
void add_counters(const Stream& stream, TimelineColumns& timeline);

}  // namespace hbmscope::gui
