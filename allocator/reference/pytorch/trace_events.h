// What PyTorch's allocator reports about itself: the trace entries of its memory history, its snapshot, and the
// statistics that it keeps in addition to those of all allocators. Names of PyTorch 2.9.1 are in the comments.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/reference/pytorch/block.h"

namespace hbmscope::allocator::pytorch {

enum class Action : std::uint8_t {
  allocated,       // ALLOC
  free_requested,  // FREE_REQUESTED
  // FREE_COMPLETED: the block can be reused. Comes at once, or when the other streams that used it are done.
  free_completed,
  segment_allocated,  // SEGMENT_ALLOC
  segment_freed,      // SEGMENT_FREE
  segment_mapped,     // SEGMENT_MAP
  segment_unmapped,   // SEGMENT_UNMAP
  out_of_memory,      // OOM
};

struct TraceEvent {
  Action action;
  std::uint64_t address;  // 0 for out_of_memory, where PyTorch writes the free bytes of the device.
  // For a block the request, for an out_of_memory the rounded request.
  std::uint64_t bytes;
  std::uint32_t stream;
  PoolId pool;
};

// PyTorch's AllocatorTraceTracker. Called in the middle of an operation: must not call the allocator.
class TraceTracker {
 public:
  virtual ~TraceTracker() = default;
  virtual void on_event(const TraceEvent& event) = 0;
};

struct SnapshotBlock {
  std::uint64_t address, bytes, requested_bytes;
  bool is_allocated, is_active;
};

// A segment, or a range of an expandable segment that is mapped without a gap.
struct SnapshotSegment {
  std::uint64_t address, bytes;
  std::uint32_t stream;
  bool is_large, is_expandable;
  PoolId pool;
  std::vector<SnapshotBlock> blocks;
};

// Part of PyTorch's DeviceStats; allocated_bytes and reserved_bytes are in_use_bytes and pool_bytes of Statistics.
struct TorchStatistics {
  std::uint64_t active_bytes = 0;     // Allocated, or freed while another stream may still use it.
  std::uint64_t requested_bytes = 0;  // The requests of active blocks.
  // Free blocks that share a segment with others; without expandable segments, whose pages can always be released.
  std::uint64_t inactive_split_bytes = 0;
  std::uint64_t retries = 0;  // num_alloc_retries: requests that had to release the cache.
  std::uint64_t out_of_memories = 0;
};

}  // namespace hbmscope::allocator::pytorch
