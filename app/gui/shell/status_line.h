// The last line: how much of the file is shown, what is still being computed, and the last message.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_status_line(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
