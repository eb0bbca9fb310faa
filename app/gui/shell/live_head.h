// How the running job in front stands: its state, how fast it tells, what was lost, and what is recorded.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// In the line that it is called in; nothing where what is in front is a file.
void draw_live_head(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
