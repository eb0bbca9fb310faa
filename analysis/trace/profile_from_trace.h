// What lives at a moment of a trace, as a profile: blocks with the same stack, heap and state are one sample. Every
// question that can be asked of a pprof profile (top, flame graph, diff, folded stacks) can so be asked of a trace.
#pragma once

#include "analysis/model/profile.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

// Bytes are what blocks take, rounding included, of the heaps that count (layers.h): nothing is in it twice. Labels:
// device (the heap's name) and kind (block; pending for what the program has freed and a device stream may still use;
// handle for physical memory that is owned without a block, as by cuMemCreate).
Profile profile_from_trace(const Trace& trace, const std::vector<StreamState>& states);

}  // namespace hbmscope
