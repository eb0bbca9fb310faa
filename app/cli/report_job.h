// The part of a report on what a trace tells beside its heaps: facts about the job, handles of physical memory,
// counters, attributes, modules.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// A few lines; empty where nothing of it is told.
std::string text_from_told(const Source& source, const Terminal& terminal);
void add_told(nlohmann::ordered_json& json, const Source& source);  // All of it.

}  // namespace hbmscope::cli
