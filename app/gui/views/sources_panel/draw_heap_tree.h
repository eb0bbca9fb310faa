// The heaps of a trace, grouped by device, with their bytes at the current time, and its compiled programs with what
// they need. A click shows a heap in all views.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// For the active trace; draws nothing for a profile.
void draw_heap_tree(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
