#include "allocator/reference/simple/platform.h"

namespace hbmscope::allocator::platform {

Platform::~Platform() {
  for (const auto& [address, block] : blocks_) upstream_.release(block.claim);
}

std::uint64_t Platform::rounded_bytes(std::uint64_t bytes) const {
  return (bytes + options_.granularity_bytes - 1) & ~(options_.granularity_bytes - 1);
}

Allocation Platform::allocate(const Request& request) {
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (request.bytes > request_bytes_max) return {};
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  const auto claim = upstream_.claim(bytes);
  if (!claim) {
    if (sink_) sink_->on_claim_refused(bytes);
    return {};
  }
  const auto region = static_cast<std::uint32_t>(allocation_ids_++);
  if (sink_) sink_->on_region_claimed(region, *claim, bytes);
  blocks_[claim->base] = {*claim, request.bytes, region};
  statistics_.count_claimed(claim->bytes);
  statistics_.count_taken(claim->bytes);
  return {Outcome::allocated, Fault::none, false, region, claim->base, claim->bytes, allocation_ids_};
}

FreeOutcome Platform::free(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return FreeOutcome::unknown_address;
  const Block block = found->second;
  blocks_.erase(found);
  statistics_.in_use_bytes -= block.claim.bytes;
  statistics_.pool_bytes -= block.claim.bytes;
  upstream_.release(block.claim);
  if (sink_) sink_->on_region_released(block.region, block.claim);
  return FreeOutcome::freed;
}

std::vector<Claim> Platform::claims() const {
  std::vector<Claim> claims;
  for (const auto& [address, block] : blocks_) claims.push_back(block.claim);
  return claims;
}

std::vector<PoolBlock> Platform::pool_blocks() const {
  std::vector<PoolBlock> blocks;
  for (const auto& [address, block] : blocks_)
    blocks.push_back({address, block.claim.bytes, block.requested_bytes, true});
  return blocks;
}

}  // namespace hbmscope::allocator::platform
