// A PyTorch snapshot as a trace: one stream, one pool heap for each device and private pool; what lived before the
// first recorded entry as state, the entries as events in the order of their times, the profiler's ranges as marks.
#pragma once

#include "analysis/read/torch/torch_snapshot.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

Trace trace_from_torch(const TorchSnapshot& snapshot);

}  // namespace hbmscope
