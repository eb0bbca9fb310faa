// The parameters of a workload that can be changed, each with a suitable control.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_workload_knobs(const AppState& state, const Source& source, CommandQueue& commands);

}  // namespace hbmscope::gui
