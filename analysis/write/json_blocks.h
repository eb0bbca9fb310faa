// Blocks as JSON: live ones, and the history of an address. app/cli/JSON.md describes the schema.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/query/block_history.h"
#include "analysis/query/block_labels.h"
#include "analysis/query/block_list.h"

namespace hbmscope {

// One block with its whole stack, innermost frame first.
nlohmann::ordered_json json_from_block(const Trace& trace, const std::vector<StreamState>& states,
                                       const std::vector<BlockLabels>& labels, const LiveRow& row);

// Totals, and the first `limit` rows.
nlohmann::ordered_json json_from_block_list(const Trace& trace, const std::vector<StreamState>& states,
                                            const LiveRows& live, const BlockList& list, std::size_t limit);

// The newest `limit` rows, oldest first.
nlohmann::ordered_json json_from_address_history(const Stream& stream, const AddressHistory& history,
                                                 std::size_t limit);
std::string_view text_from_held_end(HeldEnd how);  // "freed", "moved", "heap_gone", "not_listed", "lives"

}  // namespace hbmscope
