// Compiled programs that lie in blocks of a pool, and the values in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/program_parts.h"

namespace hbmscope {

// "step  /home/me/train.py:75", or what there is instead of your code.
std::string place_of_stack(const Definitions& definitions, std::uint32_t stack);

// For programs, with their values in the order of their events.
Documents describe_program_parts(const Trace& trace, const std::vector<ProgramPart>& parts, std::string key);
// For readers: the values of the first part, the largest first. Without rows if it has none.
Table describe_program_values(const Trace& trace, const std::vector<ProgramPart>& parts);

}  // namespace hbmscope
