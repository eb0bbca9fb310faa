// What is said beside the pointer over the timeline.
#pragma once

#include "app/gui/views/timeline/draw_timeline_hand.h"

namespace hbmscope::gui {

// Of a column: time, figures, marker, band, step.
void draw_column_tooltip(const TimelineFrame& frame, float x);
// Of a block: as in the heap map, with its life: when it was allocated, and as far as the picture shows it, when freed.
void draw_block_tooltip(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index, float x);

}  // namespace hbmscope::gui
