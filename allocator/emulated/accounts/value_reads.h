// Reads of values that a dry run does not compute. What the program decided by them, such as a size, a branch or the
// end of a loop, is unproven, so the account of the run (accounts.h) counts them by the place in the program that read
// them. Small ones matter: `loss.item()`, the count of torch.nonzero(), a flag. A whole output that is copied seldom
// decides anything.
#pragma once

#include "allocator/emulated/accounts/accounts.h"

namespace hbmscope::device {

inline constexpr Bytes small_read_bytes_max = 4096;

// The host got `bytes` of made-up values, in the calling thread. Does nothing if nobody has started the run. The place
// is what the collector knows of the calling thread, if it is there; otherwise it stays unknown.
void note_value_read(Bytes bytes);

}  // namespace hbmscope::device
