// Where the docked views were when the window was last closed: ImGui's own text, kept in the state folder.
#pragma once

#include <filesystem>

namespace hbmscope::gui {

// Both need a current ImGui context. A file that is missing or can't be written is no reason to trouble anybody.
void read_layout(const std::filesystem::path& file);
void write_layout(const std::filesystem::path& file);

}  // namespace hbmscope::gui
