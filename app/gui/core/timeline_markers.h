// The source's markers (steps, ranges) in a span of the timeline, reduced to a number that can be drawn: markers less
// than a column apart are merged.
#pragma once

#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr int marker_depth_max = 4;  // Deeper nested ranges are left out.

// Fills `instants` and `stretches` of the timeline, whose span and columns must be set. A range ends at the next end
// marker with the same name on the same device; if there is none, it extends to the end of the trace.
void add_markers(const Stream& stream, TimelineColumns& timeline);

}  // namespace hbmscope::gui
