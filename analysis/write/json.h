// Results as JSON, for --json and `export --to json`: one object with snake_case keys and units last; unknown is null,
// never 0. app/cli/JSON.md describes the schema, which has the number 1 and only ever grows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/model/import_statistics.h"
#include "analysis/query/call_tree.h"
#include "analysis/query/groups.h"
#include "analysis/query/summary.h"
#include "analysis/query/top.h"

namespace hbmscope {

inline constexpr int json_schema = 1;

// Totals, groups, unknown sizes and import statistics: the beginning of every report. The caller adds rows.
nlohmann::ordered_json json_from_view(const ProfileView& view);

nlohmann::ordered_json json_from_groups(const std::vector<GroupRow>& rows, std::string_view name_key);
nlohmann::ordered_json json_from_group_rows(const std::vector<GroupRow>& rows);  // In the format of top rows.
nlohmann::ordered_json json_from_neighbours(const ProfileView& view, const Neighbours& neighbours);
nlohmann::ordered_json json_from_call_tree(const ProfileView& view, const CallTree& tree);
nlohmann::ordered_json json_from_import(const ImportStatistics& import);
nlohmann::ordered_json json_from_series(const std::vector<SeriesPoint>& points);

std::string text_from_json(const nlohmann::ordered_json& json);  // Indented by two, with a trailing newline.
std::string line_from_json(const nlohmann::ordered_json& json);  // One line, with a trailing newline.

}  // namespace hbmscope
