// The last line: what of the profile is seen, in exact words, and what was done last.
#pragma once

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

void draw_status_line(const AppState& state);

}  // namespace hbmscope::gui
