// Whose memory is it, of a trace: the innermost frame of a stack that is a person's own code, by the rule of
// own_file.h. As own_code.h, for stacks that are in no profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/trace/definitions.h"

namespace hbmscope {

// Nothing where the stack is library code from end to end, or there is none.
std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack);

// "step  optimizer.py:75"; "(library code only)", "(no stack was recorded)".
std::string own_code_text(const Definitions& definitions, std::uint32_t stack);

}  // namespace hbmscope
