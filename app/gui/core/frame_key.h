// A frame by its names instead of by its number. Numbers hold within one ProfileView only; a selection has to outlive
// a changed filter, another file and a new session (`open --select`), so it names what was selected.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/query/profile_view.h"

namespace hbmscope::gui {

struct FrameKey {
  std::string function;
  std::string file;       // Empty: any file; what `--select NAME` gives.
  std::int64_t line = 0;  // Compared only where frames are lines.

  bool empty() const { return function.empty(); }
  friend bool operator==(const FrameKey&, const FrameKey&) = default;
};

FrameKey key_from_frame(const Frame& frame);
bool matches(const FrameKey& key, const Frame& frame, FrameBy by);

// The first frame of the view that matches; none where the view has no such frame.
FrameIndex find_frame(const ProfileView& view, const FrameKey& key);

// "train.py:41", "train.py", "" (unknown), as it stands next to a function's name.
std::string location_text(const Frame& frame);

std::string_view text_from_frame_by(FrameBy by);  // "function", "line", "file", "package", "address"

}  // namespace hbmscope::gui
