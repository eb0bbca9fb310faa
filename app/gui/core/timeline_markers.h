// The source's own marks (steps, annotations) over a stretch of a timeline, few enough to be drawn: what is less than a
// column apart is one.
#pragma once

#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr int marker_depth_max = 4;  // Stretches deeper than that are left out.

// Into `instants` and `stretches` of the timeline, whose span and columns must be there. A stretch ends at the next end
// with its name on its device; one that never ends goes on to the end of the trace.
void add_markers(const Stream& stream, TimelineColumns& timeline);

}  // namespace hbmscope::gui
