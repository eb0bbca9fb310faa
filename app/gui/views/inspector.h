// Everything about the selected frame, always in this order: what, how much, where (devices, kinds), by whom (callers,
// callees, the stacks that hold most).
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct InspectorState {
  bool all_frames = false;  // Library frames of the stacks too.
};

void draw_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands);

}  // namespace hbmscope::gui
