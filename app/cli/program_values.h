// What a compiled program has planned inside a block, as report prints it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/program_parts.h"

namespace hbmscope::cli {

// The largest `limit` values of the first part, a line each, indented; with a last line if there are more.
std::string text_from_program_values(const Trace& trace, const std::vector<ProgramPart>& parts, std::size_t limit);

// The parts, each with all its values.
nlohmann::ordered_json json_from_program_parts(const Trace& trace, const std::vector<ProgramPart>& parts);

}  // namespace hbmscope::cli
