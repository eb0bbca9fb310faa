// PyTorch's caching allocator for CUDA (c10/cuda/CUDACachingAllocator.cpp), decision by decision.
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
// Not modelled: private pools of graphs, events of other streams (record_stream), a memory fraction set by the program,
// and the garbage collection threshold that depends on it.
#pragma once

#include <map>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "allocator/chunk_map/chunk_map.h"

namespace hbmscope::allocator::pytorch {

struct Options {
  bool expandable_segments = false;
  std::uint64_t max_split_bytes = no_limit;  // Larger blocks are never split.
  // How much larger such a block may be than the request.
  std::uint64_t max_non_split_rounding_bytes = std::uint64_t{20} << 20;
  std::uint64_t roundup_power2_divisions = 0;            // A power of two; 0: sizes are rounded to 512 B.
  std::uint64_t device_bytes = std::uint64_t{80} << 30;  // 9/8 of it is reserved for each expandable segment.
};
inline constexpr Certainty certainty = Certainty::checked;

// Parses PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True,max_split_size_mb:128". Error: what is invalid or not
// supported; a sentence without a full stop.
tl::expected<Options, std::string> options_from_conf(std::string_view conf);

class CachingAllocator final : public Allocator {
 public:
  CachingAllocator(Upstream& upstream, const Options& options) : Allocator(upstream), options_(options) {}
  ~CachingAllocator() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  // torch.cuda.empty_cache(): releases segments without a block, and unused ends of expandable segments.
  void release_cached();
  // Adds a segment with its live blocks, to restore the state at the start of a recording. Not for expandable segments.
  void adopt(const Claim& segment, std::uint32_t stream, std::span<const PoolBlock> blocks);

  Statistics statistics() const override;
  std::uint64_t largest_free_bytes() const override { return map_.largest_free_bytes(); }
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override { return map_.pool_blocks(); }
  std::size_t chunks() const override { return map_.pool_blocks().size(); }

 private:
  using At = ChunkMap::At;
  struct Search {
    std::uint64_t bytes;          // Rounded.
    std::uint64_t segment_bytes;  // What is requested from the driver.
    std::uint32_t owner;
  };
  struct Segment {
    Claim claim;  // For an expandable segment: the reserved addresses.
    bool is_expandable = false;
    std::uint64_t piece_bytes = 0;  // For an expandable segment: the bytes mapped at a time.
  };

  // caching_allocator.cpp
  At find_free(const Search& search);
  At grow(const Search& search);
  At claim_segment(const Search& search);
  bool is_whole(At chunk);  // The chunk is its whole segment.
  bool should_split(std::uint64_t chunk_bytes, const Search& search) const;
  bool release_oversized(const Search& search);
  void release_of(std::uint32_t owner);
  void release_segment(At chunk);
  void note_claimed(std::uint32_t segment, const Claim& claim);
  void note_released(std::uint32_t segment, const Claim& claim);

  // expandable.cpp
  std::uint64_t expandable_bytes(At chunk);
  At find_expandable(const Search& search);
  At grow_expandable(const Search& search);
  At map_low_end(At chunk, std::uint64_t bytes);
  void unmap(At chunk);

  const Options options_;
  ChunkMap map_;
  std::map<std::uint32_t, Segment> segments_;  // By number.
  std::uint32_t segments_claimed_ = 0;
  Statistics statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::pytorch
