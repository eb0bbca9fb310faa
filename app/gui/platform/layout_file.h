// Saves the positions of docked views between sessions: ImGui's own text, kept in the state folder.
#pragma once

#include <filesystem>
#include <string>

namespace hbmscope::gui {

// Both need a current ImGui context. A file that is missing is ignored.
void read_layout(const std::filesystem::path& file);
std::string layout_text();

}  // namespace hbmscope::gui
