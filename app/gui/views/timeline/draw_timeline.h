// A heap over time: in use, pool size, largest free block, fragmentation, failures. A click or a drag of the scrubber
// moves the time that all views show; a drag over the lanes selects a range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct TimelineState {
  bool is_scrubbing = false;               // The first step of a drag was pushed.
  bool is_selecting = false;               // Likewise, of a range.
  bool fits_y = false;                     // The y axis fits the visible data, else the whole trace.
  double pressed_at = 0;                   // On the axis: where the drag of a range began,
  double selected[2] = {0, 0};             // and what it covers, so that it is drawn before its answer is computed.
  TimeRange selected_as;                   // The range of `selected`,
  std::weak_ptr<const Trace> selected_in;  // and where: the peak of a first part is another one.
  double grip = 0;                         // On the axis: where in the visible part the strip's window is held.
  MomentName pushed;                       // The last time that it pushed,
  TimeRange pushed_range;                  // and the last range.
  std::uint64_t copy_seen = 0, zoom_seen = 0;
};

void draw_timeline(const AppState& state, TimelineState& timeline, CommandQueue& commands);

}  // namespace hbmscope::gui
