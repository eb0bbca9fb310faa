// Requests that the driver refused at the end of a trace, and that their allocator may still try again: pending, not
// yet failed. XLA asks for 0.9 of it, PyTorch frees its cache and asks once more; XLA waits ten seconds at most.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/query/heap_rows.h"

namespace hbmscope {

// A refusal that is older than this, at the end of its stream, waits for no retry.
constexpr std::int64_t retry_patience_ns = 12'000'000'000;

// Refusals of the last twelve seconds of a stream which nothing answered since: neither did the same heap take half of
// it or more, nor did it refuse again (the later one counts), nor did an allocator report that it is out of memory.
// Where the refusal does not name a heap, any counts. Of recordings and running jobs only: other files are of a moment
// that is past. Of a finished recording they are not pending (FailureRow::is_pending): they are not tried again. Costs
// a walk over what followed the first of them; nothing if the driver refused nothing.
std::vector<FailureRow> compute_pending_rows(const Trace& trace);

}  // namespace hbmscope
