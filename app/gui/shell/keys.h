// Keyboard shortcuts from the command table. A text such as "Ctrl+Shift+P" is both the key to press and the menu's
// label.
#pragma once

#include <string_view>

#include <imgui.h>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// 0 if the text is not a key.
ImGuiKeyChord parse_shortcut(std::string_view shortcut);

// Pushes the commands whose keys were pressed in this frame. Single letters act only while no text is being typed and
// no dialog is in front.
void handle_keys(CommandQueue& commands);

}  // namespace hbmscope::gui
