// JAX's `vmm` allocator (xla/stream_executor/vmm_device_address_allocator.cc at openxla 079e7c21, read, not run).
//
// A buffer of 3 MB: rounded up to the driver's granularity, 2 MiB, it takes 4 MiB of memory (cuMemCreate) under 4 MiB
// of addresses of its own (cuMemAddressReserve, cuMemMap). Freed, it stays as it is, in a queue; the next request that
// rounds to 4 MiB gets the one that waits longest. A request of another size takes new memory while the budget holds
// (the fraction of the device, what is queued included). Where it does not, or the driver refuses, the queue goes back
// to the driver and the request is tried again. So nothing is ever split, and what is free serves one size only.
//
// Assumed, because no trace records it: that the device is done with everything in the queue when it is needed. The
// original then gives all of it back, as here; else it waits for so many of the oldest as add up to 1.1 of the request.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "allocator/interface/allocator.h"

namespace hbmscope::allocator::vmm {

struct Options {
  std::uint64_t limit_bytes = 0;                             // The original's physical address budget.
  std::uint64_t granularity_bytes = std::uint64_t{2} << 20;  // A power of two.
};
inline constexpr Certainty certainty = Certainty::approximate;

class Vmm final : public Allocator {
 public:
  // The upstream must know reserve() and map().
  Vmm(Upstream& upstream, const Options& options) : Allocator(upstream), options_(options) {}
  ~Vmm() override;

  Allocation allocate(const Request& request) override;
  FreeOutcome free(std::uint64_t address) override;
  Statistics statistics() const override;
  // A request that rounds to as much gets it; a smaller one does not.
  std::uint64_t largest_free_bytes() const override;
  std::uint64_t rounded_bytes(std::uint64_t bytes) const override;
  std::vector<Claim> claims() const override;
  std::vector<Piece> pieces() const override;
  std::size_t chunks() const override { return blocks_.size() + queued_; }

 private:
  struct Block {
    Claim claim;
    std::uint64_t requested_bytes;
    std::uint32_t region;
  };
  bool take_queued(std::uint64_t bytes, Block& block);
  bool take_new(std::uint64_t bytes, Block& block);
  bool release_queue();  // False: it was empty.
  void release(const Block& block);

  const Options options_;
  std::unordered_map<std::uint64_t, Block> blocks_;         // By address.
  std::map<std::uint64_t, std::deque<Block>> free_blocks_;  // By size; the one that waits longest first.
  std::size_t queued_ = 0;                                  // In all of them.
  std::uint32_t regions_claimed_ = 0;
  Statistics statistics_;
  std::uint64_t allocation_ids_ = 0;
};

}  // namespace hbmscope::allocator::vmm
