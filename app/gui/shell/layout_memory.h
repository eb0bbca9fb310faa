// Remembers the layout of each kind of file as its user left it. Dear ImGui has one layout at a time, with one place
// for each window; those of the other kinds are kept here as its own text, and travel in the text that it saves
// (platform/layout_file.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace hbmscope::gui {

// What the file in front has decides where the views are: a profile has no addresses, and a text without blocks has
// only the failure and itself. A low window, or one with large text, has its own layouts with fewer views on top of
// each other.
enum class LayoutKind : std::uint8_t { profile, trace, text, low_profile, low_trace, low_text };
inline constexpr std::size_t layout_kind_count = 6;
constexpr bool is_low(LayoutKind kind) {
  return kind >= LayoutKind::low_profile;
}

class LayoutMemory {
 public:
  // Registers itself with the current ImGui context, which must not load or save afterwards if this is gone.
  LayoutMemory();
  LayoutMemory(const LayoutMemory&) = delete;
  LayoutMemory& operator=(const LayoutMemory&) = delete;

  // The kind that ImGui's layout is of. Nothing if it has none yet.
  std::optional<LayoutKind> shown() const { return shown_; }
  // Keeps the shown layout and brings that of `kind`. False if there is none, and it has to be built.
  bool show(LayoutKind kind);

 private:
  std::string& text(LayoutKind kind) { return texts_[static_cast<std::size_t>(kind)]; }

  std::array<std::string, layout_kind_count> texts_;  // For the kinds that are not shown. Empty if none is kept.
  std::optional<LayoutKind> shown_;
};

}  // namespace hbmscope::gui
