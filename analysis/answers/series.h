// Totals of many profiles, one row each.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/document/document.h"
#include "analysis/query/summary.h"

namespace hbmscope {

Documents describe_series(const std::vector<SeriesPoint>& points);  // For programs, with the key "series".
// For readers; the change is since the file before. `unit`: of the totals.
Table describe_totals(const std::vector<SeriesPoint>& points, std::string_view unit);

}  // namespace hbmscope
