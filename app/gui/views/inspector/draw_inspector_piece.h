// The Inspector of a block or of a free gap that was selected in the heap map or in the table of blocks.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/inspector/draw_inspector.h"

namespace hbmscope::gui {

// False where nothing of that kind is selected.
bool draw_piece_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands);

}  // namespace hbmscope::gui
