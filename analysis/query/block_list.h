// The blocks that are live at a given time as a table, filtered and sorted by any column.
//
//   2,104 of 1,203,551 blocks, 4.21 GiB      size>1GiB age>10s      largest first
//
// Two steps, so that another order or filter needs no pass: collect_live_rows() (block_list_rows.h) depends on the
// time, and compute_block_list() on the collected rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"

#include "analysis/query/block_list_rows.h"
#include "analysis/query/where.h"

namespace hbmscope {

enum class BlockOrder {
  size,
  requested,
  waste,
  age,
  lifetime,
  address,
  heap,
  user_code,
  tag,
  device_stream,
  state,
  category,
  array,
};
std::string_view text_from_block_order(BlockOrder order);  // "size", "code", "stream", ...
std::optional<BlockOrder> parse_block_order(std::string_view text);

struct BlockQuery {
  std::string where;  // As in block_where_fields(). Empty means all.
  BlockOrder order = BlockOrder::size;
  bool is_ascending = false;
  std::vector<HeapKey> heaps = {};  // Only their blocks. Empty means of all.

  friend bool operator==(const BlockQuery&, const BlockQuery&) = default;
};

struct BlockList {
  std::vector<std::uint32_t> rows;  // Indices in LiveRows::rows, in the requested order; unknown values come last.
  std::uint64_t bytes = 0, waste_bytes = 0;  // Sums over `rows`. Blocks with unknown requested size add no waste.
  std::uint64_t all_blocks = 0, all_bytes = 0;
};

// size, requested, waste, rounding, age, lifetime, address, offset, stack, function, file, own, tag, category, array,
// held, heap, layer, device, stream, state, event. A field that no heap of the trace has is an error that gives the
// reason.
std::vector<WhereField> block_where_fields(const Trace& trace);

// True if the query needs LiveRows with ends.
bool needs_ends(const Trace& trace, const BlockQuery& query);
// Whether the filter has a term of this field; it is only parsed. False if it does not parse.
bool filter_asks_for(const Trace& trace, std::string_view where, std::string_view field);

// Heaps that only view the bytes of others (analysis/trace/layers.h) are listed only if the filter uses `heap` or
// `layer`, so that sums add one layer only. Errors: those of parse_where; cancelled.
Result<BlockList> compute_block_list(const Trace& trace, const std::vector<StreamState>& states, const LiveRows& live,
                                     const BlockQuery& query, const std::atomic<bool>* cancelled = nullptr);

// The lowest address of a heap's memory, from which offsets count; nothing if it has none.
std::optional<std::uint64_t> lowest_address(const StreamState& state, std::uint32_t heap);

}  // namespace hbmscope
