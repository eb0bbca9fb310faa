// Gradient checkpointing, as jax.checkpoint makes it: what a segment of the forward pass (a layer) computed and the
// backward pass reads is not kept but computed again, from what the segment was given, right before it is read.
//
//   none     everything is kept
//   dots     results of matrix products are kept
//   full     only what segments are given is kept
//   offload  as dots, and what is kept waits on the host: copied there after its last use in the forward pass, and back
//            before it is read
#pragma once

#include "allocator/tpu/emulation/workload.h"

namespace hbmscope::allocator::tpu {

// Operations without a segment that follow the last one with a segment are the backward pass. Values that are computed
// again get the suffix ".remat", copies on the host ".host", back on the device ".back".
Program apply_checkpointing(const Program& program, Checkpointing policy);

}  // namespace hbmscope::allocator::tpu
