// The answer to "why did it fail, and what would help": for each failed request its cause with evidence, what held the
// memory, and advice. Commands and the window show it; nothing here prints.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/diagnose/advice.h"
#include "analysis/diagnose/cause.h"
#include "analysis/diagnose/holders.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct Diagnosis {
  std::size_t stream = 0, index = 0;  // failures()[index] of that stream.
  FailureRow row;
  FailureFacts facts;
  CauseOfFailure cause;
  Holders holders;  // Just before the failure.
  std::vector<Advice> advice;
};

// An out-of-memory of a trace, in the order of compute_failure_rows.
struct FailedRequest {
  std::size_t stream = 0, index = 0;
};
// Without those of pools that only serve as a comparison.
std::vector<FailedRequest> find_failed_requests(const Trace& trace);

// Walks the heap, the timeline and the attributes of the failure's stream.
Diagnosis diagnose(const Trace& trace, const FailedRequest& request);

}  // namespace hbmscope
