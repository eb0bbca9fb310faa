// Which of the eight hues a source file has in the flame graph, or a line of code in the heap map. A file keeps its hue
// as long as the window is open, whatever is filtered, zoomed or opened later; so hues are given away once, to the
// largest files first, and the ninth file is neutral: nine hues could not be told apart.
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
  // Gives the next free hues to files that have none yet, in this order.
  void add(const std::vector<std::string>& files);
  std::size_t hue_of(std::string_view file) const;                  // no_hue where it has none.
  const std::vector<std::string>& files() const { return files_; }  // By hue.

 private:
  std::vector<std::string> files_;
};

}  // namespace hbmscope::gui
