// All commands with their keys, from the command table, and the gestures in pictures; the terms; what this program is.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct HelpState {
  std::string narrowed_to;
  std::uint64_t page_seen = 0;  // The last page that a command asked for.
};

void draw_help(const AppState& state, HelpState& help, CommandQueue& commands);

}  // namespace hbmscope::gui
