// Turns the command line and files dropped onto the window into window commands.
#pragma once

#include <string>
#include <vector>

#include "app/gui/core/commands.h"
#include "app/gui/platform/window.h"

namespace hbmscope::gui {

// Folders among the paths are opened as folders.
void push_open(CommandQueue& commands, const std::vector<std::string>& paths);

void push_initial_commands(CommandQueue& commands, const WindowRequest& request);

}  // namespace hbmscope::gui
