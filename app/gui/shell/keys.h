// Keys, from the command table: "Ctrl+Shift+P" there is what is pressed and what menus show.
#pragma once

#include <string_view>

#include <imgui.h>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// 0 where the text is not a key.
ImGuiKeyChord parse_shortcut(std::string_view shortcut);

// Pushes the commands whose keys were pressed in this frame. Single letters act only while no text is being typed and
// no dialog is in front.
void handle_keys(CommandQueue& commands);

}  // namespace hbmscope::gui
