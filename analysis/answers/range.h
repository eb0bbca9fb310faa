// What was allocated and freed between two times of a trace, and what survived.
#pragma once

#include <cstddef>

#include "analysis/document/document.h"
#include "analysis/query/range_summary.h"

namespace hbmscope {

// By your code and by stack; with the keys "own_code" and "stacks". `summary` and `trace` must live as long as these.
Table describe_range_by_code(const RangeSummary& summary);
Table describe_range_by_stack(const Trace& trace, const RangeSummary& summary);

struct ShownRows {
  std::size_t own = 5, stacks = 20;  // 0: all.
};
// For programs there are only the rows that readers see at first.
Document describe_range(const Trace& trace, const TraceRange& range, const RangeSummary& summary, const ShownRows& shown,
                        Audience audience);

}  // namespace hbmscope
