// The rows of Top that are not frames: lines of your code, and categories.
#pragma once

#include "app/gui/views/top/draw_top.h"

namespace hbmscope::gui {

// `by` is your_code or category, and `summary` has rows of it. The line of the head after the choice is drawn too.
void draw_top_groups(const AppState& state, TopState& top, TopBy by, const SummaryAnswer& summary,
                     CommandQueue& commands);

}  // namespace hbmscope::gui
