// Whose memory is it? The innermost frame of nearly every stack is machinery (`_execute_compiled`, `device_put`). What
// you can change is the innermost frame in your own code. Each sample counts at that line, once. Stacks of PyTorch's
// backward passes have no such frame; their place is the autograd thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope {

struct UserCodeRow {
  // Where a row's memory was allocated. `no_stack`: before stacks were recorded, or without one.
  enum class Place : std::uint8_t { line, autograd_thread, library_only, no_stack };

  Frame frame;  // By line; without a function if the place is no line.
  // The library functions that it called, those with most bytes first: "normal", "device_put, full". Empty if there are
  // none; native ones that Python called have names that say little.
  std::string through;
  Weight weight;
  Place place = Place::line;

  bool has_no_user_code() const { return place != Place::line; }
  bool has_place() const { return place == Place::line || place == Place::autograd_thread; }
  std::string_view label() const;  // The text to show instead of a line.
};

// Largest first, followed by stacks of library code, then samples without a stack. The rows add up to the view's
// selected weight. The view decides which samples count; frames are always by line.
std::vector<UserCodeRow> compute_user_code(const ProfileView& view);

}  // namespace hbmscope
