// Which hue each name (a line of code, a tag, a stream, a source file) had last, in this window or an earlier one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hbmscope::gui {

inline constexpr std::size_t hue_count = 8;
inline constexpr std::size_t no_hue = hue_count;

struct NamedHue {
  std::string name;
  std::size_t hue = no_hue;
  friend bool operator==(const NamedHue&, const NamedHue&) = default;
};

class KnownHues {
 public:
  KnownHues() = default;
  explicit KnownHues(std::vector<NamedHue> names) : names_(std::move(names)) {}

  std::size_t hue_of(std::string_view name) const;  // no_hue if it is not known.
  void set(const std::string& name, std::size_t hue);
  // The last 512, the newest first.
  const std::vector<NamedHue>& names() const { return names_; }
  bool take_change() { return std::exchange(has_changed_, false); }  // Since the last call.

 private:
  std::vector<NamedHue> names_;
  bool has_changed_ = false;
};

}  // namespace hbmscope::gui
