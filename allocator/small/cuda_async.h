// The driver's own pool, as cudaMallocAsync has it. Documented is that memory which is free stays in the pool up to the
// release threshold (cudaMemPoolAttrReleaseThreshold) and goes back above it; that sizes are rounded up, that the pool
// grows by pieces larger than a request, and that free memory is given back before a request fails. Assumed here are
// the numbers and the choice: 512 B, 32 MiB (what cudaMemPoolAttrReservedMemCurrent is seen to grow by; where that is
// refused, multiples of 2 MiB), and best fit.
// The driver gives memory back when the program synchronises; a trace does not record that, so here it happens at the
// free. Blocks of one stream only: what is freed can be taken at once.
#pragma once

#include <map>

#include "allocator/chunk_map/chunk_map.h"

namespace hbmscope::allocator::cuda_async {

struct Options {
  // What the pool keeps although nothing is in use. 0: CUDA's default, all goes back.
  std::uint64_t release_threshold_bytes = 0;
  // Claimed at the first request, kept as any other free memory: how XLA preallocates such a pool.
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
  std::vector<Piece> pieces() const override { return map_.pieces(); }
  std::size_t chunks() const override { return map_.chunks().size(); }

 private:
  bool claim(std::uint64_t bytes);
  bool grow(std::uint64_t bytes);
  // Regions without a block, until the pool is so large. False: there was none.
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
