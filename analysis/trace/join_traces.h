// Traces of several files as one: the ranks of a job, each of which saved its own. Streams stay as they are, one behind
// the other; their clock records, where there are any, say how they lie in time.
#pragma once

#include <memory>
#include <span>

#include "analysis/trace/trace.h"

namespace hbmscope {

// At least one. The streams are versions: nothing is copied that they can share.
Trace join_traces(std::span<const std::shared_ptr<const Trace>> traces);

}  // namespace hbmscope
