// The state of the active running job: its event rate, what was lost, and what is recorded.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// In the current line; draws nothing if the active source is a file.
void draw_live_head(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
