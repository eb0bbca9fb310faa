// Playing a trace: the selected time of the bound context advances by itself.
#pragma once

#include <chrono>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

void toggle_play(AppState& state);
bool advance_play(AppState& state, std::chrono::steady_clock::time_point now);  // True if something changed.

}  // namespace hbmscope::gui
