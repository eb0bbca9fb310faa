// The events around the current time, one per row; the last event before it is marked. A click goes to an event.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct EventsState {
  std::shared_ptr<const EventsAnswer> followed;  // The answer in which the table last scrolled to the current time,
  std::uint64_t followed_position = 0;           // and the position then.
  std::uint64_t copy_seen = 0;
};

void draw_events(const AppState& state, EventsState& events, CommandQueue& commands);

}  // namespace hbmscope::gui
