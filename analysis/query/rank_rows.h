// The processes of a job side by side, the worst first: each stream of a trace is one row, with the heap that says most
// about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "analysis/query/heap_rows.h"

namespace hbmscope {

struct RankRow {
  std::size_t stream = 0;  // From 0.
  std::string name;        // "rank_1.pickle", "rank 3" (trace/stream_names.h).
  std::optional<std::uint32_t> rank;
  HeapKey heap;  // That of its last out-of-memory, else the fullest one that counts (trace/layers.h).
  std::string heap_name;
  std::optional<std::uint64_t> in_use_bytes;  // At the given time. Absent if unknown.
  std::uint64_t peak_bytes = 0;               // Over the whole trace.
  std::optional<std::uint64_t> limit_bytes, device_bytes, pool_bytes, largest_free_bytes;
  std::uint64_t failures = 0;         // Out-of-memories, over the whole trace; without those of comparison pools.
  std::optional<FailureRow> failure;  // The last of them.
  bool is_inexact = false;

  // In use / limit, or / device where the limit is unknown, or / pool where both are; absent if all are.
  std::optional<double> fullness() const;
  // The same without the pool: one that grows is nearly full at any size.
  std::optional<double> share_of_limit() const;
};

// A row for each stream that ever held something, has a pool, or where a request failed. Those with an out-of-memory
// come first, or without any the one that the window shows first (choose_heap()). Then come those that use more of the
// limit or device, those where that is unknown last, then those with the higher peak.
std::vector<RankRow> compute_rank_rows(const Trace& trace, const std::vector<StreamState>& states);

}  // namespace hbmscope
