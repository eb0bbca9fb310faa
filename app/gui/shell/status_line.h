// The last line: what of the file is seen, in exact words, what is still being worked out, and what was done last.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_status_line(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
