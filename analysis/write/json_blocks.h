// Blocks as JSON: the history of an address, and differences between two traces. app/cli/JSON.md describes
// the schema.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/query/block_diff.h"
#include "analysis/query/block_history.h"
#include "analysis/query/job_facts.h"

namespace hbmscope {

// The newest `limit` rows, oldest first.
nlohmann::ordered_json json_from_address_history(const Stream& stream, const AddressHistory& history,
                                                 std::size_t limit);
std::string_view text_from_held_end(HeldEnd how);  // "freed", "moved", "heap_gone", "not_listed", "lives"

nlohmann::ordered_json json_from_settings(const std::vector<SettingChange>& settings);
nlohmann::ordered_json json_from_block_diff(const BlockDiff& diff, std::size_t limit);  // `limit` of rows; 0: all.

}  // namespace hbmscope
