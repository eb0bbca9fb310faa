// Requests at the end of a job that the driver refused and the allocator may still retry: pending, not yet failed.
#pragma once

#include <vector>

#include "analysis/query/heap_rows.h"

namespace hbmscope {

// The refusals that no retry has answered yet (trace/unanswered_refusals.h). Only of recordings and running jobs,
// because other files describe a time in the past. In a recording that its writer has finished they are not pending
// (FailureRow::is_pending): after these the job went on; those after which it allocated nothing are failures
// (Stream::end_refusals) and not among these rows.
std::vector<FailureRow> compute_pending_rows(const Trace& trace);

}  // namespace hbmscope
