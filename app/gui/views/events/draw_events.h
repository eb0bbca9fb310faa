// The events around the current time, one a row; the last one before it is marked. A click goes to an event.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct EventsState {
  std::shared_ptr<const EventsAnswer> followed;  // In which the current time was last scrolled to,
  std::uint64_t followed_position = 0;           // and where it was.
  std::uint64_t copy_seen = 0;
};

void draw_events(const AppState& state, EventsState& events, CommandQueue& commands);

}  // namespace hbmscope::gui
