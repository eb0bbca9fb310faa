// An answer as JSON on standard output: whole for programs, shortened for agents.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// `brief`: so many characters at most, on one line; 0: all of it. Error: it is longer than that even if it is shortened.
Result<std::string> text_from_answer(const nlohmann::ordered_json& json, std::size_t brief);

}  // namespace hbmscope::cli
