// The running job in front: its state, its rate of events, what was lost, and what is recorded.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// In the current line; nothing where a file is in front.
void draw_live_head(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
