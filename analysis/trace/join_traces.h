// Combines the traces of several files into one: the ranks of a job, each of which saved its own. Streams stay separate
// and unmodified. Their clock records, if any, relate them in time. Files about the same process are recognised
// (same_process.h).
#pragma once

#include <memory>
#include <span>

#include "analysis/trace/trace.h"

namespace hbmscope {

// Requires at least one. The streams are versions, which share whatever they can instead of copying.
Trace join_traces(std::span<const std::shared_ptr<const Trace>> traces);

}  // namespace hbmscope
