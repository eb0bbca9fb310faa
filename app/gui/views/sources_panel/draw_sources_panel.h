// The open files, each with its devices and a bar of what they hold, by kind. A click on a file makes it active; a
// click on a device filters by that device.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_sources(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
