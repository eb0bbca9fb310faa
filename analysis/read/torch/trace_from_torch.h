// Converts a PyTorch snapshot to a trace: one stream, and one pool heap per device and private pool. Blocks from before
// the first recorded entry become initial state, entries become events in time order, and the profiler's ranges become
// marks.
#pragma once

#include "analysis/read/torch/torch_snapshot.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

Trace trace_from_torch(const TorchSnapshot& snapshot);

}  // namespace hbmscope
