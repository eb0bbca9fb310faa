// The moment moves on by itself, for the context that is bound.
#pragma once

#include <chrono>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

void toggle_play(AppState& state);
bool advance_play(AppState& state, std::chrono::steady_clock::time_point now);  // True where something changed.

}  // namespace hbmscope::gui
