#include "app/gui/platform/layout_file.h"

#include <imgui.h>

#include <fstream>
#include <iterator>

namespace hbmscope::gui {

void read_layout(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!text.empty()) ImGui::LoadIniSettingsFromMemory(text.data(), text.size());
}

std::string layout_text() {
  std::size_t size = 0;
  const char* text = ImGui::SaveIniSettingsToMemory(&size);
  return {text, size};
}

}  // namespace hbmscope::gui
