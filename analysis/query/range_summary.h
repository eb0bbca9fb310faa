// What changed between two times of one trace: allocated, freed, and what was allocated in between and is still live
// (suspected leaks), by stack and by line of your code; and the heaps before and after.
//
// Bytes are block sizes including rounding, in the heaps that count (layers.h). Costs a pass over the range (pass.h),
// not over the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/clamped.h"
#include "analysis/query/chosen_heap.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/own_frame.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

// Both in one trace; `from` must not be after `to` in any stream.
struct TraceRange {
  Moment from, to;
};
// As find_moment. Another error: a range that ends before it begins.
Result<TraceRange> find_range(const Trace& trace, std::string_view from, std::string_view to);
// Error: a range that ends before it begins.
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
  BlockSum allocated;  // By an event in the range.
  BlockSum freed;      // Completed in the range; blocks of any age, under the stack that allocated them.
  BlockSum survived;   // Allocated in the range and live at its end (including pending ones).

  std::int64_t net_bytes() const;  // Allocated - freed.
  void add(const RangeSums& more);
  friend bool operator==(const RangeSums&, const RangeSums&) = default;
};

struct RangeStackRow {
  std::size_t stream = 0;
  std::uint32_t stack = 0;  // In the stream's definitions. 0 if none was recorded.
  RangeSums sums;
};

struct RangeOwnRow {
  std::string function, file;  // The innermost frame in your code; both empty: none (no_line_text says which).
  std::uint32_t line = 0;      // 0: unknown.
  RangeSums sums;
  bool is_autograd_thread = false;

  std::string_view no_line_text() const { return text_without_line(is_autograd_thread); }
};

struct RangeSummary {
  RangeSums total;
  BlockSum freed_older;  // Part of total.freed: blocks allocated before the range.
  std::int64_t in_use_delta_bytes = 0;
  // Part of in_use_delta_bytes that no allocation or free explains: heaps that disappeared with all their blocks,
  // blocks that a new listing added or left out, handles of physical memory.
  std::int64_t other_delta_bytes = 0;
  std::vector<RangeStackRow> stacks;               // Largest absolute net bytes first.
  std::vector<RangeOwnRow> user_code;              // Most surviving bytes first; then by absolute net bytes.
  std::vector<HeapRow> heaps_before, heaps_after;  // In the same order; all heaps, including those that don't count.
};

// `from`, `to`: the states of all streams at those times. Returns nothing if it was cancelled.
// Of all heaps that count, or of `only` one heap.
std::optional<RangeSummary> compute_range_summary(const Trace& trace, const std::vector<StreamState>& from,
                                                  const std::vector<StreamState>& to, PassControl* control = nullptr,
                                                  std::optional<HeapKey> only = {});

}  // namespace hbmscope
