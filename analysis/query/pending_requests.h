// Requests at the end of a trace that the driver refused and the allocator may still retry: pending, not yet failed.
// XLA retries with 90 % of the size, PyTorch frees its cache and retries once; XLA waits ten seconds at most.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/query/heap_rows.h"

namespace hbmscope {

// Older refusals at the end of a stream are no longer waiting for a retry.
constexpr std::int64_t retry_patience_ns = 12'000'000'000;

// Refusals in the last twelve seconds of a stream that nothing has resolved since: the same heap did not allocate at
// least half as much, was not refused again (the later refusal counts), and no allocator reported out of memory. If the
// refusal does not name a heap, any heap counts. Only for recordings and running jobs, because other files describe a
// time in the past. In a finished recording they are not pending (FailureRow::is_pending), since nobody will retry
// them. Walks the events after the first refusal; constant time if there was none.
std::vector<FailureRow> compute_pending_rows(const Trace& trace);

}  // namespace hbmscope
