// hbmscope explain: why requests failed, what held the memory, and what would help.
#pragma once

#include <string>

#include "analysis/trace/trace.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// One failure of a trace in full, numbered from 0, the others in a line each.
std::string text_from_failures(const Trace& trace, const Terminal& terminal, std::size_t shown = 0);

}  // namespace hbmscope::cli
