// "Open in editor" in a context menu.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Call it within the menu. Disabled, with the reason, if the file is not on this machine or no editor is known.
void draw_editor_item(const AppState& state, const FrameKey& frame, CommandQueue& commands);

}  // namespace hbmscope::gui
