// Callers and callees of the selected frame, with the bytes that came through each of them. A click goes there.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_neighbours(const AppState& state, const FrameDetail& detail, CommandQueue& commands);

}  // namespace hbmscope::gui
