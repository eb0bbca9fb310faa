// The callers and callees of the selected frame, with the bytes that passed through each. A click selects a frame.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_neighbours(const AppState& state, const FrameDetail& detail, CommandQueue& commands);

}  // namespace hbmscope::gui
