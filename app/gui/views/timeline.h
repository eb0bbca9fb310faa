// A heap over time: what was in use, how large the pool was, what would still have fitted, where it failed. Dragging
// moves the moment that all views show.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct TimelineState {
  bool is_dragging = false;  // The first step of a drag was pushed.
  std::string pushed;        // The last moment that it asked for.
  std::uint64_t copy_seen = 0;
};

void draw_timeline(const AppState& state, TimelineState& timeline, CommandQueue& commands);

}  // namespace hbmscope::gui
