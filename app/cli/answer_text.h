// A document as JSON: whole for programs, shortened for agents.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "analysis/document/document.h"
#include "analysis/model/result.h"

namespace hbmscope::cli {

// Begins with the number of the schema and `head`. `brief`: --brief, so many characters; 0: all. Error: it is longer.
Result<std::string> text_from_answer(const Document& document, const nlohmann::ordered_json& head, std::size_t brief);
Result<std::string> text_from_answer(const nlohmann::ordered_json& json, std::size_t brief);

}  // namespace hbmscope::cli
