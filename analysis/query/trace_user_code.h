// Whose memory is it? The innermost frame of a trace's stack in your code, by the rule of own_file.h. Like user_code.h,
// for stacks that are not in a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/trace/definitions.h"

namespace hbmscope {

// Nothing if the stack has library code only, or if there is no stack.
std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack);

// "step  optimizer.py:75"; "(library code only)", "(no stack was recorded)".
std::string user_code_text(const Definitions& definitions, std::uint32_t stack);

}  // namespace hbmscope
