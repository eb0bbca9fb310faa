// The failures of a trace as JSON. app/cli/JSON.md describes the schema.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/heap_rows.h"

namespace hbmscope {

nlohmann::ordered_json json_from_failure_rows(const std::vector<FailureRow>& rows);

}  // namespace hbmscope
