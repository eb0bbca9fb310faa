// Whose memory is it? The innermost frame of a trace's stack in your code, by the rule of own_frame.h. Like
// user_code.h, for stacks that are not in a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/trace/definitions.h"

namespace hbmscope {

struct OwnPlace {
  std::optional<TraceFrame> frame;
  bool is_autograd_thread = false;  // A stack of PyTorch's backward passes, without a frame in your code.
  bool is_unknown = false;          // No stack, or one without any file.
};
OwnPlace find_own_place(const Definitions& definitions, std::uint32_t stack);

// Its frame: nothing if the stack has library code only, or if there is no stack.
std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack);

// What to show for a stack without a frame in your code: "(autograd thread)", "(library code only)", "(no stack was
// recorded)".
std::string_view no_user_code_text(const Definitions& definitions, std::uint32_t stack);

// "step  optimizer.py:75", or no_user_code_text.
std::string user_code_text(const Definitions& definitions, std::uint32_t stack);
std::string frame_text(const Definitions& definitions, const TraceFrame& frame);  // "step  optimizer.py:75"

}  // namespace hbmscope
