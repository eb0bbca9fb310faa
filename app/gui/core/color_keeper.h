// Assigns one of eight hues to each source file of the flame graph, or to each line of code of the heap map. A file
// keeps its hue while the window is open, whatever is filtered, zoomed or opened later. Hues go to the largest files
// first, and each hue is used once. From the ninth file on, files are neutral, because nine hues would be too hard to
// distinguish.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hbmscope::gui {

inline constexpr std::size_t hue_count = 8;
inline constexpr std::size_t no_hue = hue_count;

class ColorKeeper {
 public:
  // Gives the next unused hues to files that have none, in this order.
  void add(const std::vector<std::string>& files);
  std::size_t hue_of(std::string_view file) const;                  // no_hue if it has none.
  const std::vector<std::string>& files() const { return files_; }  // By hue.

 private:
  std::vector<std::string> files_;
};

}  // namespace hbmscope::gui
