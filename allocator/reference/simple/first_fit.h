// Textbook first fit, a baseline for the other allocators. One region is claimed at the first request. Each request,
// rounded up to 256 B and aligned, goes to the lowest address where it fits. A freed block joins its free neighbours. A
// request walks over all chunks below its place.
#pragma once

#include "allocator/reference/simple/chunk_map.h"

namespace hbmscope::allocator::first_fit {

struct Options {
  std::uint64_t limit_bytes = 0;  // Size of the one region; above 0.
};
inline constexpr Certainty certainty = Certainty::exact;  // It is its own original.

class FirstFit final : public Allocator {
 public:
  FirstFit(Upstream& upstream, const Options& options) : Allocator(upstream) {
    statistics_.limit_bytes = options.limit_bytes;
  }
  ~FirstFit() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  Statistics statistics() const override;
  std::uint64_t largest_free_bytes() const override { return map_.largest_free_bytes(); }
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override { return map_.pool_blocks(); }
  std::size_t chunks() const override { return map_.chunks().size(); }

 private:
  bool claim();
  ChunkMap::At find_place(std::uint64_t bytes, std::uint64_t alignment);

  ChunkMap map_;
  Claim region_;  // 0 bytes: not claimed yet.
  Statistics statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::first_fit
