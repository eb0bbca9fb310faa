#include "app/gui/look/block_name.h"

#include <imgui.h>

namespace hbmscope::gui {

std::string name_that_fits(const std::string& name, const std::string& size, float room) {
  const auto fits = [&](const std::string& words) { return ImGui::CalcTextSize(words.c_str()).x <= room; };
  if (!name.starts_with('(')) {
    const std::size_t place = name.rfind("  ");
    // The name of what a block holds, which has no place, says more than its size.
    const std::string shorter = place == std::string::npos ? name : name.substr(place + 2) + ", " + size;
    for (const std::string& words : {name + ", " + size, shorter})
      if (fits(words)) return words;
  }
  return fits(size) ? size : std::string();
}

}  // namespace hbmscope::gui
