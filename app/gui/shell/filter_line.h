// The line under the menu: the one filter of all views (the language of --where, with its errors shown while typing),
// what Find looks for, and how frames are grouped and weighed.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FilterLineState {
  std::string where, find;            // What stands in the fields; applied on Enter, or when left.
  std::string where_seen, find_seen;  // What the state said last.
  std::string error;                  // Of the filter as it is typed.
  std::uint64_t filter_seen = 0, find_serial_seen = 0;
};

void draw_filter_line(const AppState& state, FilterLineState& line, CommandQueue& commands);

}  // namespace hbmscope::gui
