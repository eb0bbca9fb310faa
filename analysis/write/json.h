// Results as JSON, for --json and `export --to json`: one object with snake_case keys and units last; unknown is null,
// never 0. app/cli/JSON.md describes the schema, which has the number 1 and only ever grows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/summary.h"

namespace hbmscope {

inline constexpr int json_schema = 1;

// Totals, groups, unknown sizes and import statistics: the beginning of every report. The caller adds rows.
nlohmann::ordered_json json_from_view(const ProfileView& view);

std::string text_from_json(const nlohmann::ordered_json& json);  // Indented by two, with a trailing newline.
std::string line_from_json(const nlohmann::ordered_json& json);  // One line, with a trailing newline.

}  // namespace hbmscope
