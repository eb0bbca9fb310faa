// The open files, and for each its devices with a bar of what they hold, by kind. A click on a file brings it to the
// front; a click on a device shows only that device.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_sources(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
