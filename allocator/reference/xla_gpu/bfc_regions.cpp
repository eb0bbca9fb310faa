// How the pool grows and shrinks.
#include <algorithm>
#include <iterator>

#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator::xla_gpu {

// Adds a region that can serve `bytes`. False: it could not.
bool Bfc::extend(std::uint64_t bytes) {
  if (counts_needed() && !regions_.empty()) return false;  // All of it was claimed.
  // An upstream that rounds up may have given more than the limit. XLA's difference then wraps around to nearly 2^64,
  // so the limit no longer applies. The same happens here.
  const std::uint64_t available = (options_.limit_bytes - statistics_.pool_bytes) / min_chunk_bytes * min_chunk_bytes;
  if (bytes > available) return false;
  bool was_raised = false;
  while (bytes > next_region_bytes_) {
    if (next_region_bytes_ == 0) {
      fault_ = Fault::endless_growth;
      return false;
    }
    next_region_bytes_ *= 2;
    was_raised = true;
  }
  if (!claim_or_backpedal(std::min(next_region_bytes_, available), bytes)) return false;
  if (!was_raised) next_region_bytes_ *= 2;
  return fault_ == Fault::none;
}

// Claims as much as the driver gives, in steps of nine tenths down to `least_bytes`. False: not even that.
bool Bfc::claim_or_backpedal(std::uint64_t requested_bytes, std::uint64_t least_bytes) {
  while (requested_bytes >= least_bytes) {
    if (const auto claim = upstream_.claim(requested_bytes)) {
      add_region(*claim, requested_bytes);
      return true;
    }
    if (sink_) sink_->on_claim_refused(requested_bytes);
    const std::uint64_t less = backpedaled_bytes(requested_bytes);
    if (less < requested_bytes) {
      requested_bytes = less;
    } else if (options_.hangs_on_small_refusal) {
      fault_ = Fault::endless_backpedal;
      return false;
    } else {
      requested_bytes -= min_chunk_bytes;
    }
  }
  return false;
}

void Bfc::add_region(const Claim& claim, std::uint64_t requested_bytes) {
  const std::uint32_t number = regions_claimed_++;
  if (sink_) sink_->on_region_claimed(number, claim, requested_bytes);
  const ChunkIndex index = pool_.add();
  Chunk& chunk = pool_[index];
  chunk.address = claim.base;
  chunk.bytes = claim.bytes;
  chunk.previous = chunk.next = no_chunk;
  chunk.region = number;
  chunk.tag = rules_.is_spatial ? Tag::gap : Tag::lower;
  chunk.in_use = false;
  const Region region = {number, claim, index};
  regions_.insert(std::upper_bound(regions_.begin(), regions_.end(), region,
                                   [](const Region& a, const Region& b) { return a.end() < b.end(); }),
                  region);
  last_ = index;
  if (!counts_needed()) statistics_.count_claimed(claim.bytes);
  if (claim.base % min_chunk_bytes != 0 || claim.bytes % min_chunk_bytes != 0)
    fault_ = Fault::bad_region;
  else
    insert_free(index);
}

bool Bfc::is_free(const Region& region) const {
  for (ChunkIndex at = region.first; at != no_chunk; at = pool_[at].next)
    if (pool_[at].in_use) return false;
  return true;
}

void Bfc::drop_chunks(const Region& region) {
  for (ChunkIndex at = region.first; at != no_chunk;) {
    const ChunkIndex next = pool_[at].next;
    erase_free(at);
    pool_.remove(at);
    at = next;
  }
}

// Garbage collection: releases all regions without a block, if the request can then be served.
bool Bfc::release_free_regions(std::uint64_t bytes) {
  if (!options_.garbage_collection || counts_needed()) return false;
  std::vector<bool> free(regions_.size());
  std::uint64_t free_bytes = 0;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    free[i] = is_free(regions_[i]);
    if (free[i]) free_bytes += regions_[i].claim.bytes;
  }
  if (free_bytes == 0 || bytes > options_.limit_bytes - statistics_.pool_bytes + free_bytes) return false;
  std::vector<Region> kept;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (!free[i]) {
      kept.push_back(regions_[i]);
      continue;
    }
    release(regions_[i]);
  }
  regions_ = std::move(kept);
  return true;
}

// The region has no block; it stays in the list.
void Bfc::release(const Region& region) {
  drop_chunks(region);
  upstream_.release(region.claim);
  if (sink_) sink_->on_region_released(region.number, region.claim);
  statistics_.pool_bytes -= region.claim.bytes;
}

// LiftedRules::kept: after a free, which left this free chunk.
void Bfc::keep_nothing(ChunkIndex freed) {
  if (counts_needed()) return count_needed();
  if (pool_[freed].previous != no_chunk || pool_[freed].next != no_chunk) return;
  const auto region =
      std::find_if(regions_.begin(), regions_.end(), [&](const Region& one) { return one.first == freed; });
  release(*region);
  regions_.erase(region);
  next_region_bytes_ = std::max(next_region_bytes_ / 2, first_growth_bytes);  // As if it had never been.
}

// All of a preallocated region but its gap or the free chunk at its upper end.
void Bfc::count_needed() {
  const ChunkIndex free = rules_.is_spatial ? gap_ : pool_[last_].in_use ? no_chunk : last_;
  statistics_.pool_bytes = regions_.front().claim.bytes - (free == no_chunk ? 0 : pool_[free].bytes);
  statistics_.peak_pool_bytes = std::max(statistics_.peak_pool_bytes, statistics_.pool_bytes);
}

}  // namespace hbmscope::allocator::xla_gpu
