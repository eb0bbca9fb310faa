// Differences between the blocks of two traces as JSON. app/cli/JSON.md describes the schema.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/query/block_diff.h"
#include "analysis/query/job_facts.h"

namespace hbmscope {

nlohmann::ordered_json json_from_settings(const std::vector<SettingChange>& settings);
nlohmann::ordered_json json_from_block_diff(const BlockDiff& diff, std::size_t limit);  // `limit` of rows; 0: all.

}  // namespace hbmscope
