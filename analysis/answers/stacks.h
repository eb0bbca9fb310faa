// The stacks of a trace as values of a table.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/trace/definitions.h"

namespace hbmscope {

CodeStack stack_from_frames(const Definitions& definitions, const std::vector<TraceFrame>& frames,
                            std::uint32_t stack);
// All frames, innermost first.
CodeStack whole_stack(const Definitions& definitions, std::uint32_t stack);
// The innermost line of your code; without one, the words for that.
Value own_line_value(const Definitions& definitions, std::uint32_t stack);

}  // namespace hbmscope
