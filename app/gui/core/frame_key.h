// Identifies a frame by its names instead of its number. Numbers are valid only within one ProfileView, while a
// selection must survive a changed filter, another file and a new session (`open --select`).
#pragma once

#include <cstdint>
#include <string>

#include "analysis/query/profile_view.h"

namespace hbmscope::gui {

struct FrameKey {
  std::string function;
  std::string file;          // Empty: any file, as with `--select NAME`.
  std::int64_t line = 0;     // Compared only if frames are lines.
  bool is_own_line = false;  // For a trace: only stacks whose innermost line in your code it is.

  bool empty() const { return function.empty(); }
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};

FrameKey key_from_frame(const Frame& frame);
FrameKey key_of_own_line(const Frame& frame);
// "step  train.py:41", as user_code_text() and the filter's own= have it.
std::string own_line_name(std::string_view function, std::string_view file, std::int64_t line);
bool matches(const FrameKey& key, const Frame& frame, FrameBy by);

// The first matching frame of the view, or none.
FrameIndex find_frame(const ProfileView& view, const FrameKey& key);

// "train.py:41", "train.py" or "" (unknown), as shown after a function's name.
std::string location_text(const Frame& frame);

std::string_view text_from_frame_by(FrameBy by);  // "function", "line", "file", "package", "address"

}  // namespace hbmscope::gui
