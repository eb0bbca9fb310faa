// A strip above all views, of a trace with several devices or ranks: a card for each, and past sixteen a row of cells.
// A click shows that device's heap.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Draws nothing where there is one device only.
void draw_device_cards(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
