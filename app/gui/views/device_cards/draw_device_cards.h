// A strip above all views for traces with several devices or ranks: one card each, or a row of cells if there are more
// than sixteen. A click shows that device's heap.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Draws nothing if there is only one device.
void draw_device_cards(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
