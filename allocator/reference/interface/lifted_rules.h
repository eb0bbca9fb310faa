// Rules of a pool that cost memory, and can be lifted in the reference allocators to see how much. No original has such
// a switch: a pool without a rule says what the rule costs, not how to avoid it.
#pragma once

namespace hbmscope::allocator {

struct LiftedRules {
  bool rounding = false;       // Blocks are as large as the request, to the byte.
  bool unsplit = false;        // Blocks keep nothing that was requested by nobody: what is left is split off.
  bool ends = false;           // XLA: one end; default and collective memory share all holes.
  bool streams = false;        // PyTorch: requests of all streams share the free blocks.
  bool private_pools = false;  // PyTorch: requests of graphs and MemPools are served from the device's own pool.
  // The pool keeps nothing that could be given back without moving a block: regions without a block and free ends of
  // expandable segments are released at once, and of a preallocated region only what is needed counts, up to its
  // outermost blocks.
  bool kept = false;
};

}  // namespace hbmscope::allocator
