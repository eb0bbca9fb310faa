// The part of a report that only a trace has: heaps at a moment, events, failures.
#pragma once

#include <string>

#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

std::string text_from_trace(const Source& source, const Terminal& terminal);

}  // namespace hbmscope::cli
