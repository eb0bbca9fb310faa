// All commands with their keys, from the command table, and the gestures in pictures.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct HelpState {
  std::string narrowed_to;
};

void draw_help(const AppState& state, HelpState& help, CommandQueue& commands);

}  // namespace hbmscope::gui
