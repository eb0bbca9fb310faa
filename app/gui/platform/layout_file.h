// Saves the positions of docked views between sessions: ImGui's own text, kept in the state folder.
#pragma once

#include <filesystem>

namespace hbmscope::gui {

// Both need a current ImGui context. They ignore a file that is missing or can't be written.
void read_layout(const std::filesystem::path& file);
void write_layout(const std::filesystem::path& file);

}  // namespace hbmscope::gui
