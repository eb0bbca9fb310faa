// The Inspector of a block or free gap selected in the heap map or in the table of blocks.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/inspector/draw_inspector.h"

namespace hbmscope::gui {

// False if no block or gap is selected.
bool draw_span_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands);

}  // namespace hbmscope::gui
