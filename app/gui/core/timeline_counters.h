// Figures that others told over time (counter records: cuMemGetInfo, NVML, memory_stats) over a stretch of a timeline.
#pragma once

#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr std::size_t timeline_counters_max = 3;  // What is more is left out, and counted.

// Into `counters` of the timeline, whose span and columns must be there: those of its heap and those of none, that were
// told at least twice in the whole trace, in the order in which they were named.
void add_counters(const Stream& stream, TimelineColumns& timeline);

}  // namespace hbmscope::gui
