// What is said beside the pointer over the timeline.
#pragma once

#include "app/gui/views/timeline/draw_timeline_hand.h"

namespace hbmscope::gui {

// Of a point of the axis in the overview.
void draw_strip_tooltip(const TimelineFrame& frame, double at);
// Of a column: time, figures, marker, band, step.
void draw_column_tooltip(const TimelineFrame& frame, float x);
// Of a block: as in the heap map, with its life: when it was allocated and when freed.
void draw_block_tooltip(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index, float x);

}  // namespace hbmscope::gui
