// hbmscope explain: why requests failed, what held the memory, and what would help.
#pragma once

#include <string>

#include "analysis/trace/trace.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// The first failure of a trace in full, the others in a line each.
std::string text_from_failures(const Trace& trace, const Terminal& terminal);

}  // namespace hbmscope::cli
