// Whose memory is it? The innermost frame of nearly every stack is machinery (`_execute_compiled`, `device_put`). What
// you can change is the innermost frame in your own code. Each sample counts at that line, once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope {

struct UserCodeRow {
  Frame frame;          // By line; without a function: stacks with library code only.
  std::string through;  // The library function that it called: "normal", "device_put"; empty: none.
  Weight weight;
  bool has_stack = true;  // False: allocated before stacks were recorded, or without one.

  bool has_no_user_code() const { return frame.function.empty(); }
  // The text to show instead of a line.
  std::string_view label() const { return has_stack ? "(library code only)" : "(no stack was recorded)"; }
};

// Largest first, followed by stacks without your code, then samples without a stack. The rows add up to the view's
// selected weight. The view decides which samples count; frames are always by line.
std::vector<UserCodeRow> compute_user_code(const ProfileView& view);

}  // namespace hbmscope
