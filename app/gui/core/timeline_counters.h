// Counters over a span of the timeline: values that the source reported over time (cuMemGetInfo, NVML, memory_stats).
#pragma once

#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr std::size_t timeline_counters_max = 3;  // The rest is left out and counted.

// Fills `counters` of the timeline, whose span and columns must be set. It takes counters of the timeline's heap and of
// no heap that were reported at least twice in the whole trace, in the order in which they were named.
void add_counters(const Stream& stream, TimelineColumns& timeline);

}  // namespace hbmscope::gui
