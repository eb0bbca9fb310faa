// The part of a report on a compiled program, where the trace is one of its dumps.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/trace/trace.h"

namespace hbmscope::cli {

// A few lines; empty where the trace tells of no program.
std::string text_from_program(const Trace& trace);
// Adds the key `program`; nothing where there is none.
void add_program(nlohmann::ordered_json& json, const Trace& trace);

}  // namespace hbmscope::cli
