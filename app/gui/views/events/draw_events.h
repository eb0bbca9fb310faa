// The events around the current time, one per row; the last event before it is marked. A click goes to an event.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct EventsState {
  std::shared_ptr<const EventsAnswer> of;  // Whose table it is.
  Table table;
  TableState rows;
  std::uint64_t copy_seen = 0;
};

void draw_events(const AppState& state, EventsState& events, CommandQueue& commands);

}  // namespace hbmscope::gui
