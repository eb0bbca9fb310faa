// PyTorch's caching allocator for CUDA, decision by decision. The rules are those of c10/cuda/CUDACachingAllocator.cpp
// of PyTorch 2.9.1, whose answers it repeats.
//
// A tensor of 3 MB, rounded up to 512 B, is above 1 MiB, so it is served from the large pool of its stream: by the
// smallest free block that fits, and of equal ones by the lowest. If there is none, a segment of 20 MiB is allocated
// from the driver and split. (Requests of up to 1 MiB get segments of 2 MiB; requests from 10 MiB on get a segment of
// their own size, rounded up to 2 MiB.) In the large pool, a remainder of at most 1 MiB stays with the block. A freed
// block joins its neighbours in the segment and stays cached. If the driver refuses, all segments without a block are
// released and the request is tried once more.
// With expandable segments, a pool is one range of reserved addresses per stream. 20 MiB (2 MiB in the small pool) are
// mapped at a time as needed, so free memory at its end grows instead of being left behind.
//
// - record_stream() keeps a freed block out of the pool until the other streams are done (pending_frees.h).
// - Private pools, of graphs and MemPools, have segments of their own (private_pools.cpp). While one records, a request
//   that the driver refuses does not release the cache.
// - With a memory fraction, the limit counts like a refusal of the driver. With a garbage collection threshold too,
//   segments that are at least as old as the average are released first (segments.cpp).
//
// Not modelled: what depends on PyTorch's own heap (stream_progress.h), private pools that serve only some streams,
// pools with an allocator of their own, use_on_oom, checkpoints of private pools, and reuse of blocks within a graph
// (graph_capture_record_stream_reuse).
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tl/expected.hpp>

#include "allocator/reference/interface/allocator.h"
#include "allocator/reference/interface/lifted_rules.h"
#include "allocator/reference/pytorch/block.h"
#include "allocator/reference/pytorch/pending_frees.h"
#include "allocator/reference/pytorch/trace_events.h"

namespace hbmscope::allocator::pytorch {

// The settings of PyTorch's caching allocator: those of PYTORCH_CUDA_ALLOC_CONF, the device, and the fraction of its
// memory that the program allows itself.

// Into how many steps the sizes between two powers of two are divided, by size: the first entry is for sizes below
// 2 MiB, the next for sizes from 2 MiB, then 4 MiB, ..., the last for all sizes from 32 GiB. Entries are 0 or powers of
// two; with 0 or 1, sizes are rounded to 512 B.
using RoundupDivisions = std::array<std::uint64_t, 16>;

struct Options {
  bool expandable_segments = false;
  std::uint64_t max_split_bytes = no_limit;  // Larger blocks are never split.
  // How much larger such a block may be than the request.
  std::uint64_t max_non_split_rounding_bytes = std::uint64_t{20} << 20;
  RoundupDivisions roundup_power2_divisions = {};
  std::uint64_t device_bytes = std::uint64_t{80} << 30;  // 9/8 of it is reserved for each expandable segment.
  // torch.cuda.set_per_process_memory_fraction(): below 1, segments may take that part of the device.
  double memory_fraction = 1;
  // Above 0, and with a fraction below 1: when segments take more than this part of what they may take, cached segments
  // that were not used for long are released before the driver is called.
  double garbage_collection_threshold = 0;
  LiftedRules lifted;
};

// Parses PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:128", as c10/cuda/CUDAAllocatorConfig.cpp
// of PyTorch 2.9.1 does. Error: what is invalid or not supported; a sentence without a full stop.
tl::expected<Options, std::string> options_from_conf(std::string_view conf, double memory_fraction = 1);

// The other way round: what differs from the defaults, empty if nothing does. The fraction is no part of it.
std::string conf_from_options(const Options& options);

inline constexpr Certainty certainty = Certainty::checked;

class CachingAllocator final : public Allocator {
 public:
  CachingAllocator(Upstream& upstream, const Options& options);
  ~CachingAllocator() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  // Tensor.record_stream(): another stream uses the block. False: no block at this address.
  bool record_stream(std::uint64_t address, std::uint32_t stream);
  // torch.cuda.empty_cache(): releases segments without a block, and unused ends of expandable segments; also those of
  // private pools without users. With a private pool: only its segments, if it has no users.
  void release_cached(PoolId pool = default_pool);

  // A private pool exists from its first use on. create_pool() counts a user, release_pool() counts it off. In between,
  // all requests are served from the pool that began last. False: the pool has no users, or it records already (begin)
  // or does not record (end).
  bool create_pool(PoolId pool);
  bool begin_pool(PoolId pool);  // Counts a user as well, to be released after the end.
  bool end_pool(PoolId pool);
  bool release_pool(PoolId pool);

  // Adds a segment with its live blocks, to restore the state at the start of a recording. Not for expandable segments.
  void adopt(const Claim& segment, std::uint32_t stream, std::span<const PoolBlock> blocks,
             std::uint32_t private_pool = 0);

  // Without progress, record_stream() has no effect. Both must outlive the allocator or be replaced by null.
  void set_progress(StreamProgress* progress) { pending_.set_progress(progress); }
  void set_tracker(TraceTracker* tracker) { tracker_ = tracker; }

  Statistics statistics() const override;
  TorchStatistics torch_statistics() const { return torch_statistics_; }
  std::vector<SnapshotSegment> snapshot() const;  // By address.
  std::uint64_t largest_free_bytes() const override;
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override;
  std::size_t chunks() const override;

 private:
  struct Search {
    std::uint64_t bytes;          // Rounded.
    std::uint64_t segment_bytes;  // What is requested from the driver.
    std::uint32_t stream;
    BlockPool* pool;
    bool is_private;  // In a private pool, as during its recording.
  };

  // caching_allocator.cpp
  bool is_recording() const { return !recording_.empty(); }
  std::uint64_t max_split_bytes() const { return options_.lifted.unsplit ? no_limit : options_.max_split_bytes; }
  bool collects_garbage() const { return limit_bytes_ != no_limit && options_.garbage_collection_threshold > 0; }
  BlockPool& pool_for(std::uint64_t bytes, PoolId pool);
  PoolId pool_of(std::uint32_t private_pool);
  Block* take_free(const Search& search);
  Block* find_block(const Search& search);
  Block* grow(const Search& search);
  bool should_split(const Block& block, const Search& search) const;
  Block* hand_out(Block* block, const Search& search, std::uint64_t requested_bytes);
  Allocation refuse(const Search& search);
  void note(Action action, std::uint64_t address, std::uint64_t bytes, std::uint32_t stream, PoolId pool);

  // blocks.cpp
  Block* new_block(const Block& like, std::uint64_t address, std::uint64_t bytes);
  void delete_block(Block* block);
  void insert_between(Block* block, Block* previous, Block* next);
  std::uint64_t join(Block* block, Block* neighbour);
  void free_block(Block* block);
  void free_blocks(const std::vector<Block*>& blocks);

  // segments.cpp
  Segment& add_segment(const Claim& claim, std::uint64_t page_bytes, std::uint32_t stream, BlockPool& pool);
  Block* claim_segment(const Search& search);
  void release_segment(Block* block);
  void collect_garbage();
  bool release_oversized(const Search& search);
  void release_free(BlockPool& pool);
  void note_claimed(const Block& block, const Claim& claim);
  void note_released(std::uint32_t segment, BlockPool& pool, const Claim& claim);

  // expandable.cpp
  Block* find_expandable(const Search& search);
  Block* grow_expandable(const Search& search);
  bool map_low_end(Block* block, std::uint64_t bytes);
  void unmap(Block* block);
  void unreserve(Block* block);

  // private_pools.cpp
  PrivatePool* find_pool(PoolId id);
  void release_unused_pools(PoolId pool);
  void erase_pool(PoolId id);

  const Options options_;
  const std::uint64_t limit_bytes_;
  BlockPool large_{false}, small_{true};
  std::map<PoolId, std::unique_ptr<PrivatePool>> private_pools_;
  std::vector<std::unique_ptr<PrivatePool>> erased_pools_;  // Those that still have addresses.
  std::vector<PoolId> recording_;                           // In the order in which they began.
  std::map<std::uint64_t, Segment> segments_;               // By base.
  std::uint32_t segments_claimed_ = 0;
  std::list<Block> blocks_;                              // In no order, some of them spare.
  std::vector<Block*> spare_;                            // Deleted ones, to be used again.
  std::unordered_map<std::uint64_t, Block*> allocated_;  // By address.
  PendingFrees pending_;
  TraceTracker* tracker_ = nullptr;
  Statistics statistics_;
  TorchStatistics torch_statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::pytorch
