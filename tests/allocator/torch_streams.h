// PyTorch keeps free blocks in the order of their streams' handles, which are heap addresses, so segments of several
// streams are released in that order. A trace numbers streams in the order in which they were made. It shows the order
// of the handles where segments of several streams are released one after the other.
#pragma once

#include "tests/allocator/torch_trace.h"

namespace hbmscope::allocator {

// The place of each stream in the order of the handles, by its number in the trace. Streams that no release separates
// keep the order of their numbers.
std::vector<std::uint32_t> ranks_of_streams(const TorchTrace& trace);

}  // namespace hbmscope::allocator
