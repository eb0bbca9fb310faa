// The heaps of a trace under their devices, with the bytes of each at the current time; a click shows a heap in all
// pictures.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Of the trace in front; draws nothing for a profile.
void draw_heap_tree(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
