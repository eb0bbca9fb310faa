// Callers and callees of the selected frame: how much of it came through each caller, and how much went on into each
// callee. A click walks along.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_neighbours(const AppState& state, const FrameDetail& detail, CommandQueue& commands);

}  // namespace hbmscope::gui
