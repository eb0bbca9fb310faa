// The driver's memory pool, as used by cudaMallocAsync. Documented: free memory up to the release threshold
// (cudaMemPoolAttrReleaseThreshold) stays in the pool and memory above it is returned; sizes are rounded up; the pool
// grows by more than one request; and free memory is returned before a request fails. Assumed here: sizes are rounded
// to 512 B, the pool grows by 32 MiB (as cudaMemPoolAttrReservedMemCurrent shows; by multiples of 2 MiB if that is
// refused), and placement is best fit.
// The driver returns memory when the program synchronises. Traces do not record that, so here it happens at the free.
// All blocks are on one stream, so a freed block can be reused at once.
#pragma once

#include <map>

#include "allocator/reference/simple/chunk_map.h"

namespace hbmscope::allocator::cuda_async {

struct Options {
  // Free memory that the pool keeps. 0: CUDA's default, everything is returned.
  std::uint64_t release_threshold_bytes = 0;
  // Claimed at the first request and then kept like other free memory. XLA preallocates such a pool this way.
  std::uint64_t reserved_bytes = 0;
};
inline constexpr Certainty certainty = Certainty::approximate;

class CudaAsync final : public Allocator {
 public:
  CudaAsync(Upstream& upstream, const Options& options) : Allocator(upstream), options_(options) {}
  ~CudaAsync() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  Statistics statistics() const override;
  std::uint64_t largest_free_bytes() const override { return map_.largest_free_bytes(); }
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override { return map_.pool_blocks(); }
  std::size_t chunks() const override { return map_.chunks().size(); }

 private:
  bool claim(std::uint64_t bytes);
  bool grow(std::uint64_t bytes);
  // Releases regions without a block until the pool has that size. Returns false if there was none.
  bool trim_to(std::uint64_t pool_bytes);
  ChunkMap::At find_place(std::uint64_t bytes);

  const Options options_;
  ChunkMap map_;
  std::map<std::uint32_t, Claim> regions_;  // By number.
  std::uint32_t regions_claimed_ = 0;
  bool has_reserved_ = false;
  Statistics statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::cuda_async
