// How many bytes PyTorch's caching allocator was asked for; what it reports to profilers (torch_pool.h) is the size of
// the block. It has a list of trackers that hear of each allocation (attachAllocatorTraceTracker, used by NCCL and by
// torch.cuda.memory), to which one of ours is added. A tracker can't be removed: after a detach ours stays and notes an
// address and a size, which nobody reads.
//
// The function isn't exported, so it is found in the file's symbol table, and called only if the allocator in use has
// the virtual functions that the symbol names. Seen in 2.4.1, 2.6.0, 2.9.1 and 2.15.0, whose TraceEntry begin alike.
#pragma once

#include <cstdint>

namespace hbmscope::inject {

// Adds the tracker as soon as PyTorch's allocator is there. Called before the driver's memory becomes a block of the
// allocator, so that its first block is heard of.
// `is_in_use`: the allocator has handed out memory.
void track_torch_requests(bool is_in_use);

// False: the library has no symbols, or another allocator is in use.
bool are_torch_requests_known();

// What the block was asked for with; wire::unknown_bytes: the tracker has not heard of it. Under the allocator's lock,
// in the call that allocates it.
std::uint64_t torch_request_of(unsigned device, std::uint64_t address);

}  // namespace hbmscope::inject
