// PyTorch's caching allocator for CUDA (c10/cuda/CUDACachingAllocator.cpp), decision by decision.
//
// A tensor of 3 MB: rounded up to 512 B it is above 1 MiB, so the large pool of its stream is asked for the smallest
// free block that fits, the lowest of equals. There is none: a segment of 20 MiB is taken from the driver (2 MiB for
// requests up to 1 MiB, what is asked rounded up to 2 MiB from 10 MiB on) and split. In the large pool a rest of at
// most 1 MiB stays with the block. A freed block joins its neighbours in the segment and stays cached. If the driver
// refuses, all segments without a block go back, and it is asked once more.
// With expandable segments a pool is one range of reserved addresses a stream, of which pieces of 20 MiB (2 MiB for
// the small pool) are mapped as they are needed: what is free at its end grows instead of being left behind.
//
// Not here: graphs' private pools, events of other streams (record_stream), a fraction of memory set by the program and
// with it the garbage collection threshold.
#pragma once

#include <map>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "allocator/chunk_map/chunk_map.h"

namespace hbmscope::allocator::pytorch {

struct Options {
  bool expandable_segments = false;
  std::uint64_t max_split_bytes = no_limit;                              // Larger blocks are never split.
  std::uint64_t max_non_split_rounding_bytes = std::uint64_t{20} << 20;  // What such a block may be larger.
  std::uint64_t roundup_power2_divisions = 0;                            // A power of two; 0: sizes by 512 B.
  std::uint64_t device_bytes = std::uint64_t{80} << 30;                  // 9/8 of it is reserved at a time.
};
inline constexpr Certainty certainty = Certainty::checked;

// As PYTORCH_CUDA_ALLOC_CONF says it: "expandable_segments:True,max_split_size_mb:128". Error: what is wrong with it,
// or not known here; a sentence without a full stop.
tl::expected<Options, std::string> options_from_conf(std::string_view conf);

class CachingAllocator final : public Allocator {
 public:
  CachingAllocator(Upstream& upstream, const Options& options) : Allocator(upstream), options_(options) {}
  ~CachingAllocator() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  // torch.cuda.empty_cache(): segments without a block go back, and unused ends of expandable ones.
  void release_cached();
  // A segment that is there already, with what lives in it: the state that a recording begins with. Not expandable.
  void adopt(const Claim& segment, std::uint32_t stream, std::span<const Piece> blocks);

  Statistics statistics() const override;
  std::uint64_t largest_free_bytes() const override { return map_.largest_free_bytes(); }
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<Piece> pieces() const override { return map_.pieces(); }
  std::size_t chunks() const override { return map_.pieces().size(); }

 private:
  using At = ChunkMap::At;
  struct Search {
    std::uint64_t bytes;          // Rounded.
    std::uint64_t segment_bytes;  // What is asked of the driver.
    std::uint32_t owner;
  };
  struct Segment {
    Claim claim;  // Of an expandable one: the reserved addresses.
    bool is_expandable = false;
    std::uint64_t piece_bytes = 0;  // Of an expandable one: what is mapped at a time.
  };

  // caching_allocator.cpp
  At find_free(const Search& search);
  At grow(const Search& search);
  At claim_segment(const Search& search);
  bool is_whole(At chunk);  // All of its segment.
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
