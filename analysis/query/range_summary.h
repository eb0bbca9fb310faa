// What came and went between two moments of one trace: allocated, freed, and what was allocated in between and lives
// still (the suspects of a leak), by stack and by own code; and the heaps before and after.
//
// Bytes are what blocks take, rounding included, of the heaps that count (layers.h). Costs what a pass over the range
// costs (pass.h), not over the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

// Of one trace, the first not after the second in any stream.
struct TraceRange {
  Moment from, to;
};
// As find_moment. Errors also: a range that ends before it begins.
Result<TraceRange> find_range(const Trace& trace, std::string_view from, std::string_view to);
// The error is a range that ends before it begins.
Result<TraceRange> range_between(Moment from, Moment to);

struct BlockSum {
  std::uint64_t count = 0, bytes = 0;

  void add(std::uint64_t more) {
    ++count;
    bytes = clamped_sum(bytes, more);
  }
  void add(const BlockSum& more) {
    count += more.count;
    bytes = clamped_sum(bytes, more.bytes);
  }
  friend bool operator==(const BlockSum&, const BlockSum&) = default;
};

struct RangeSums {
  BlockSum allocated;  // By an event of the range.
  BlockSum freed;      // Likewise, the completed free; of blocks of any age, under the stack that allocated them.
  BlockSum survived;   // Allocated in the range, and live at its end (pending ones too).

  std::int64_t net_bytes() const;  // Allocated - freed.
  void add(const RangeSums& more);
  friend bool operator==(const RangeSums&, const RangeSums&) = default;
};

struct RangeStackRow {
  std::size_t stream = 0;
  std::uint32_t stack = 0;  // Of its definitions; 0: none was recorded.
  RangeSums sums;
};

struct RangeOwnRow {
  std::string function, file;  // Of the innermost own frame; both empty: library code only, or no stack.
  std::uint32_t line = 0;      // 0: unknown.
  RangeSums sums;
};

struct RangeSummary {
  RangeSums total;
  BlockSum freed_older;  // Of total.freed: what lived before the range began.
  std::int64_t in_use_delta_bytes = 0;
  // Of it: what no allocation and no free explains. Heaps that went with all they had, blocks that a new listing did
  // not name any more or named first, handles of physical memory.
  std::int64_t other_delta_bytes = 0;
  std::vector<RangeStackRow> stacks;               // By absolute net bytes, the largest first.
  std::vector<RangeOwnRow> own_code;               // By surviving bytes, the largest first; then by absolute net bytes.
  std::vector<HeapRow> heaps_before, heaps_after;  // In the same order; all heaps, those that don't count too.
};

// `from`, `to`: the states of all streams then. Nothing where it was cancelled.
std::optional<RangeSummary> compute_range_summary(const Trace& trace, const std::vector<StreamState>& from,
                                                  const std::vector<StreamState>& to, PassControl* control = nullptr);

}  // namespace hbmscope
