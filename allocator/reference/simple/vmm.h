// JAX's `vmm` allocator (xla/stream_executor/vmm_device_address_allocator.cc at openxla 079e7c21, read, not run).
//
// A buffer of 3 MB, rounded up to the driver's granularity of 2 MiB, takes 4 MiB of memory (cuMemCreate) under its own
// 4 MiB of addresses (cuMemAddressReserve, cuMemMap). After its free it stays unchanged in a queue, and the next
// request that rounds to 4 MiB gets the buffer that has waited longest. A request of another size takes new memory
// while the budget holds (the fraction of the device, including queued buffers). If the budget is exceeded or the
// driver refuses, the queue is returned to the driver and the request is tried again. So nothing is ever split, and a
// free buffer serves one size only.
//
// Assumed, because no trace records it: the device is done with the whole queue when a request needs it. The original
// then returns all of it, as here. Otherwise the original waits for the oldest buffers, up to a total of 1.1 times the
// request.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "allocator/reference/interface/allocator.h"

namespace hbmscope::allocator::vmm {

struct Options {
  std::uint64_t limit_bytes = 0;                             // The original's physical address budget.
  std::uint64_t granularity_bytes = std::uint64_t{2} << 20;  // A power of two.
};
inline constexpr Certainty certainty = Certainty::approximate;

class Vmm final : public Allocator {
 public:
  // The upstream must implement reserve() and map().
  Vmm(Upstream& upstream, const Options& options) : Allocator(upstream), options_(options) {}
  ~Vmm() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  Statistics statistics() const override;
  // Only a request that rounds to exactly this size can use it; a smaller one can't.
  std::uint64_t largest_free_bytes() const override;
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<PoolBlock> pool_blocks() const override;
  std::size_t chunks() const override { return blocks_.size() + queued_; }

 private:
  struct Block {
    Claim claim;
    std::uint64_t requested_bytes;
    std::uint32_t region;
  };
  bool take_queued(std::uint64_t bytes, Block& block);
  bool take_new(std::uint64_t bytes, Block& block);
  bool release_queue();  // False: the queue was empty.
  void release(const Block& block);

  const Options options_;
  std::unordered_map<std::uint64_t, Block> blocks_;         // By address.
  std::map<std::uint64_t, std::deque<Block>> free_blocks_;  // By size; the buffer that has waited longest comes first.
  std::size_t queued_ = 0;                                  // Total over all sizes.
  std::uint32_t regions_claimed_ = 0;
  Statistics statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::vmm
