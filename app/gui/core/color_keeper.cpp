#include "app/gui/core/color_keeper.h"

#include <algorithm>
#include <array>

namespace hbmscope::gui {

void ColorKeeper::add(const std::vector<std::string>& files, KnownHues& known) {
  const std::size_t first = files_.size();
  for (const std::string& file : files)
    if (files_.size() < hue_count && hue_of(file) == no_hue) files_.push_back({file, no_hue});
  std::array<bool, hue_count> is_used{};
  for (std::size_t i = 0; i < first; ++i) is_used[files_[i].hue] = true;
  const auto give = [&](NamedHue& file, std::size_t hue) {
    if (hue == no_hue || file.hue != no_hue || is_used[hue]) return;
    file.hue = hue;
    is_used[hue] = true;
    known.set(file.name, hue);
  };
  for (std::size_t i = first; i < files_.size(); ++i) give(files_[i], known.hue_of(files_[i].name));
  for (std::size_t i = first; i < files_.size(); ++i)
    for (std::size_t hue = 0; hue < hue_count; ++hue) give(files_[i], hue);
}

std::size_t ColorKeeper::hue_of(std::string_view file) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const NamedHue& one) { return one.name == file; });
  return found == files_.end() ? no_hue : found->hue;
}

}  // namespace hbmscope::gui
