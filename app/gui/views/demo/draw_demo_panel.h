// The controls of the demo: its program, its speed and the environment variables that JAX reads.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_demo_panel(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
