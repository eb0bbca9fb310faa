// What stands there while no file is open: open one, one of the last ones, or the sample.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_first_launch(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
