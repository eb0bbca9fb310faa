#include "app/gui/core/color_keeper.h"

#include <algorithm>

namespace hbmscope::gui {

void ColorKeeper::add(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (files_.size() == hue_count) return;
    if (hue_of(file) == no_hue) files_.push_back(file);
  }
}

std::size_t ColorKeeper::hue_of(std::string_view file) const {
  const auto found = std::find(files_.begin(), files_.end(), file);
  return found == files_.end() ? no_hue : static_cast<std::size_t>(found - files_.begin());
}

}  // namespace hbmscope::gui
