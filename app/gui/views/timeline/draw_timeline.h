// A heap over time: bytes in use, pool size, largest free block, fragmentation, failures. A click or a drag of the
// scrubber moves the time that all views show; a drag over the lanes selects a range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/timeline/draw_timeline_stack.h"

namespace hbmscope::gui {

struct TimelineState {
  bool is_scrubbing = false;               // The first step of the drag was pushed.
  bool is_selecting = false;               // The same for selecting a range.
  bool folds_lanes = false;                // Only what is in use, and markers.
  bool fits_y = false;                     // The y axis fits the visible data; otherwise the whole trace.
  double pressed_at = 0;                   // On the axis: the start of the drag
  double selected[2] = {0, 0};             // and the range that it covers, drawn before its answer is computed.
  TimeRange selected_as;                   // The range that `selected` was pushed as,
  std::weak_ptr<const Trace> selected_in;  // and its trace: in a later version of the trace the peak may move.
  double grip = 0;                         // On the axis: the grabbed point of the overview's visible part.
  MomentName pushed;                       // The last time that it pushed
  TimeRange pushed_range;                  // and the last range.
  StackedBands bands;
  std::vector<StackedBands> tiers;         // As TimelineColumns::heaps, other kinds of memory only.
  double menu_at = 0;                      // On the axis: where the context menu was opened,
  std::uint64_t menu_position = 0;         // the events until there,
  std::optional<LiveBlock> menu_block;     // the block,
  std::optional<std::uint32_t> menu_heap;  // and the other kind of memory.
  PixelCanvas lanes, overview;
  std::uint64_t copy_seen = 0, zoom_seen = 0;
};

void draw_timeline(const AppState& state, TimelineState& timeline, CommandQueue& commands);

}  // namespace hbmscope::gui
