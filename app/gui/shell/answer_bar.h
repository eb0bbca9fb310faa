// The answer above all views, in two lines (core/answer_bar.h).
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Draws nothing where there is no answer yet.
void draw_answer_bar(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
