// What a comparison of traces has beside that of their profiles: settings that differ, blocks that came, went, grew and
// moved. The schema is described in app/cli/JSON.md.
#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/block_diff.h"
#include "analysis/query/job_facts.h"

namespace hbmscope {

nlohmann::ordered_json json_from_settings(const std::vector<SettingChange>& settings);
nlohmann::ordered_json json_from_block_diff(const BlockDiff& diff, std::size_t limit);  // Of rows; 0: all.

}  // namespace hbmscope
