// Keys, made of the command table: "Ctrl+Shift+P" in the table is what is pressed, shown and explained.
#pragma once

#include <string_view>

#include <imgui.h>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// 0 where the text names no key.
ImGuiKeyChord parse_shortcut(std::string_view shortcut);

// Pushes the commands whose keys were pressed in this frame. Single letters act only while no text is being typed
// and no dialog is in front.
void handle_keys(CommandQueue& commands);

}  // namespace hbmscope::gui
