#include "allocator/reference/simple/vmm.h"

namespace hbmscope::allocator::vmm {

Vmm::~Vmm() {
  for (const auto& [address, block] : blocks_) release(block);
  for (const auto& [bytes, blocks] : free_blocks_)
    for (const Block& block : blocks) release(block);
}

std::uint64_t Vmm::rounded_bytes(std::uint64_t bytes) const {
  return (bytes + options_.granularity_bytes - 1) & ~(options_.granularity_bytes - 1);
}

void Vmm::release(const Block& block) {
  upstream_.unmap(block.claim);
  upstream_.unreserve(block.claim);
  if (sink_) sink_->on_region_released(block.region, block.claim);
}

bool Vmm::take_queued(std::uint64_t bytes, Block& block) {
  const auto found = free_blocks_.find(bytes);
  if (found == free_blocks_.end()) return false;
  block = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) free_blocks_.erase(found);
  --queued_;
  return true;
}

bool Vmm::take_new(std::uint64_t bytes, Block& block) {
  if (bytes > options_.limit_bytes || statistics_.pool_bytes > options_.limit_bytes - bytes) return false;
  const auto base = upstream_.reserve(bytes);
  const Claim claim{base.value_or(0), bytes};
  if (!base || !upstream_.map(claim)) {
    if (base) upstream_.unreserve(claim);
    if (sink_) sink_->on_claim_refused(bytes);
    return false;
  }
  block = {claim, 0, regions_claimed_++};
  statistics_.count_claimed(bytes);
  if (sink_) sink_->on_region_claimed(block.region, claim, bytes);
  return true;
}

bool Vmm::release_queue() {
  if (queued_ == 0) return false;
  for (const auto& [bytes, blocks] : free_blocks_)
    for (const Block& block : blocks) {
      statistics_.pool_bytes -= bytes;
      release(block);
    }
  free_blocks_.clear();
  queued_ = 0;
  return true;
}

Allocation Vmm::allocate(const Request& request) {
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (request.bytes > request_bytes_max) return {};
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  Block block{};
  if (!take_queued(bytes, block) && !take_new(bytes, block) && !(release_queue() && take_new(bytes, block))) return {};
  block.requested_bytes = request.bytes;
  blocks_[block.claim.base] = block;
  statistics_.count_taken(bytes);
  return {Outcome::allocated, Fault::none, false, block.region, block.claim.base, bytes, ++allocation_ids_};
}

FreeOutcome Vmm::free(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return FreeOutcome::unknown_address;
  const std::uint64_t bytes = found->second.claim.bytes;
  free_blocks_[bytes].push_back(found->second);
  blocks_.erase(found);
  ++queued_;
  statistics_.in_use_bytes -= bytes;
  return FreeOutcome::freed;
}

Statistics Vmm::statistics() const {
  Statistics statistics = statistics_;
  statistics.limit_bytes = options_.limit_bytes;
  statistics.largest_free_bytes = largest_free_bytes();
  return statistics;
}

std::uint64_t Vmm::largest_free_bytes() const {
  return free_blocks_.empty() ? 0 : free_blocks_.rbegin()->first;
}

std::vector<Claim> Vmm::claims() const {
  std::vector<Claim> claims;
  for (const PoolBlock& block : pool_blocks()) claims.push_back({block.address, block.bytes});
  return claims;
}

std::vector<PoolBlock> Vmm::pool_blocks() const {
  std::vector<PoolBlock> all;
  for (const auto& [address, block] : blocks_) all.push_back({address, block.claim.bytes, block.requested_bytes, true});
  for (const auto& [bytes, blocks] : free_blocks_)
    for (const Block& block : blocks) all.push_back({block.claim.base, bytes, 0, false});
  return all;
}

}  // namespace hbmscope::allocator::vmm
