// The part of a report that only a trace has: heaps at a moment, events, failures.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

std::string text_from_trace(const Source& source, const Terminal& terminal);
// All of it, and what the trace tells beside.
void add_trace(nlohmann::ordered_json& json, const Source& source);

}  // namespace hbmscope::cli
