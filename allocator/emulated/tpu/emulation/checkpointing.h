// Gradient checkpointing, as in jax.checkpoint. Values that a segment of the forward pass (a layer) computed and the
// backward pass reads are not kept. They are recomputed from the segment's inputs right before they are read.
//
//   none     everything is kept
//   dots     results of matrix products are kept
//   full     only the inputs of segments are kept
//   offload  as dots, but kept values wait on the host: copied there after their last use in the forward pass, and
//            back before they are read
#pragma once

#include "allocator/emulated/tpu/emulation/workload.h"

namespace hbmscope::allocator::tpu {

// Operations without a segment after the last operation with one are the backward pass. Recomputed values get the
// suffix ".remat", copies on the host ".host", and copies back on the device ".back".
Program apply_checkpointing(const Program& program, Checkpointing policy);

}  // namespace hbmscope::allocator::tpu
