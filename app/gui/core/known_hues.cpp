#include "app/gui/core/known_hues.h"

#include <algorithm>

namespace hbmscope::gui {

constexpr std::size_t names_max = 512;

std::size_t KnownHues::hue_of(std::string_view name) const {
  const auto found = std::find_if(names_.begin(), names_.end(), [&](const NamedHue& one) { return one.name == name; });
  return found == names_.end() ? no_hue : found->hue;
}

void KnownHues::set(const std::string& name, std::size_t hue) {
  std::erase_if(names_, [&](const NamedHue& one) { return one.name == name; });
  names_.insert(names_.begin(), {name, hue});
  if (names_.size() > names_max) names_.resize(names_max);
  has_changed_ = true;
}

}  // namespace hbmscope::gui
