#include "app/gui/platform/layout_file.h"

#include <imgui.h>

#include <fstream>
#include <iterator>
#include <string>

namespace hbmscope::gui {

void read_layout(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!text.empty()) ImGui::LoadIniSettingsFromMemory(text.data(), text.size());
}

void write_layout(const std::filesystem::path& file) {
  std::size_t size = 0;
  const char* text = ImGui::SaveIniSettingsToMemory(&size);
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  // A second window that closes at the same time must not leave half a file.
  std::filesystem::path part = file;
  part += ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out.write(text, static_cast<std::streamsize>(size));
    if (!out) return;
  }
  std::filesystem::rename(part, file, ignored);
}

}  // namespace hbmscope::gui
