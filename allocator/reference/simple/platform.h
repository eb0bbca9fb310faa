// JAX's `platform` allocator: every allocation and every free is a call to the driver. Nothing is cached, so nothing is
// fragmented and the device's used memory is exactly the live buffers. But a buffer of 4 B takes the driver's
// granularity, 2 MiB where memory is mapped (cuMemCreate; jax from 0.10.2 on), and a call waits for the device: a
// public benchmark measured 180 us for 64 KiB and 1.2 ms for 64 MiB (rtj1/cuda-mempool), where a pool answers in less
// than 1 us.
#pragma once

#include <unordered_map>

#include "allocator/reference/interface/allocator.h"

namespace hbmscope::allocator::platform {

struct Options {
  std::uint64_t granularity_bytes = std::uint64_t{2}
                                    << 20;  // A power of two; 512 for cudaMalloc as older jax calls it.
};
inline constexpr Certainty certainty = Certainty::approximate;  // What cudaMalloc keeps for itself is not public.

class Platform final : public Allocator {
 public:
  Platform(Upstream& upstream, const Options& options) : Allocator(upstream), options_(options) {}
  ~Platform() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  Statistics statistics() const override { return statistics_; }
  std::uint64_t largest_free_bytes() const override { return 0; }
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override;
  std::size_t chunks() const override { return blocks_.size(); }

 private:
  struct Block {
    Claim claim;
    std::uint64_t requested_bytes;
    std::uint32_t region;
  };

  const Options options_;
  std::unordered_map<std::uint64_t, Block> blocks_;  // By address.
  Statistics statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::platform
