// Assigns one of eight hues to each source file of the flame graph. A file keeps its hue while the window is open,
// whatever is filtered, zoomed or opened later, and has it again in the next one if it is free. Hues go to the largest
// files first, and each hue is used once. From the ninth file on, files are neutral, because nine hues would be too
// hard to distinguish.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/core/known_hues.h"

namespace hbmscope::gui {

class ColorKeeper {
 public:
  // Gives hues to files that have none, in this order: the one that they had before, or the next unused one.
  void add(const std::vector<std::string>& files, KnownHues& known);
  std::size_t hue_of(std::string_view file) const;               // no_hue if it has none.
  const std::vector<NamedHue>& files() const { return files_; }  // In the order in which they got their hues.

 private:
  std::vector<NamedHue> files_;
};

}  // namespace hbmscope::gui
