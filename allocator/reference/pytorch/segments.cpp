// Segments from the driver, and when they are released to it.
#include <algorithm>

#include "allocator/reference/pytorch/caching_allocator.h"
#include "allocator/reference/pytorch/sizes.h"

namespace hbmscope::allocator::pytorch {

void CachingAllocator::note_claimed(const Block& block, const Claim& claim) {
  const Segment& segment = *block.segment;
  statistics_.count_claimed(claim.bytes);
  note(segment.is_expandable() ? Action::segment_mapped : Action::segment_allocated, claim.base, claim.bytes,
       block.stream, block.pool->id());
  if (sink_) sink_->on_region_claimed(segment.number, claim, claim.bytes);
}

void CachingAllocator::note_released(std::uint32_t segment, BlockPool& pool, const Claim& claim) {
  statistics_.pool_bytes -= claim.bytes;
  if (pool.owner != nullptr && pool.owner->segments > 0) --pool.owner->segments;
  if (sink_) sink_->on_region_released(segment, claim);
}

// With one block that covers it and is in no set.
Segment& CachingAllocator::add_segment(const Claim& claim, std::uint64_t page_bytes, std::uint32_t stream,
                                       BlockPool& pool) {
  Segment& segment = segments_[claim.base];
  segment = {claim, segments_claimed_++, page_bytes, nullptr};
  Block like;
  like.stream = stream;
  like.pool = &pool;
  like.segment = &segment;
  segment.lowest = new_block(like, claim.base, claim.bytes);
  return segment;
}

Block* CachingAllocator::claim_segment(const Search& search) {
  const auto claim = upstream_.claim(search.segment_bytes);
  if (!claim) {
    if (sink_) sink_->on_claim_refused(search.segment_bytes);
    return nullptr;
  }
  Block* block = add_segment(*claim, 0, search.stream, *search.pool).lowest;
  note_claimed(*block, *claim);
  return block;
}

// The block is free and covers its segment.
void CachingAllocator::release_segment(Block* block) {
  const std::uint32_t number = block->segment->number;
  const Claim claim = block->segment->claim;
  BlockPool& pool = *block->pool;
  note(Action::segment_freed, claim.base, claim.bytes, block->stream, pool.id());
  pool.free.erase(block);
  segments_.erase(claim.base);
  delete_block(block);
  upstream_.release(claim);
  note_released(number, pool, claim);
}

// Above the threshold, releases segments of the large pool that have not been used for at least as many searches as the
// average of those without a block, again and again until enough is released.
void CachingAllocator::collect_garbage() {
  const auto threshold =
      static_cast<std::uint64_t>(options_.garbage_collection_threshold * static_cast<double>(limit_bytes_));
  if (statistics_.pool_bytes <= threshold) return;
  const std::uint64_t needed = statistics_.pool_bytes - threshold;
  std::uint64_t released = 0, total_age = 0, segments = 0;
  for (const Block* block : large_.free) {
    if (block->is_split()) continue;
    total_age += block->age();
    ++segments;
  }
  for (bool goes_on = true; goes_on && released < needed && segments > 0;) {
    const double old_age = static_cast<double>(total_age) / static_cast<double>(segments);
    goes_on = false;
    for (auto at = large_.free.begin(); at != large_.free.end();) {
      Block* block = *at++;
      if (block->is_split() || block->segment->is_expandable() || static_cast<double>(block->age()) < old_age) continue;
      goes_on = true;
      released += block->bytes;
      total_age -= block->age();
      --segments;
      release_segment(block);
    }
  }
}

// With a limit on split sizes, larger free blocks are released first: one that is large enough, or as many as add up to
// the request. False: they do not.
bool CachingAllocator::release_oversized(const Search& search) {
  if (options_.max_split_bytes == no_limit) return false;
  BlockPool& pool = *search.pool;
  Block key;
  key.stream = search.stream;
  key.bytes = std::max(search.bytes, options_.max_split_bytes);
  auto at = pool.free.lower_bound(&key);
  if (at != pool.free.end() && (*at)->stream == search.stream && !(*at)->segment->is_expandable()) {
    release_segment(*at);
    return true;
  }
  std::uint64_t released = 0;
  while (released < key.bytes && at != pool.free.begin()) {
    Block* block = *--at;
    if (block->stream != search.stream || block->bytes < options_.max_split_bytes) break;
    if (block->segment->is_expandable()) continue;
    released += block->bytes;
    ++at;  // Stays valid.
    release_segment(block);
  }
  return released >= key.bytes;
}

void CachingAllocator::release_free(BlockPool& pool) {
  std::vector<Block*> expandable;  // Unmapping changes the set.
  for (auto at = pool.free.begin(); at != pool.free.end();) {
    Block* block = *at++;
    if (block->segment->is_expandable())
      expandable.push_back(block);
    else if (!block->is_split())
      release_segment(block);
  }
  for (Block* block : expandable) unmap(block);
}

void CachingAllocator::release_cached(PoolId pool) {
  if (pool == default_pool && !is_recording()) {
    free_blocks(pending_.wait_for_all(nullptr));
    release_free(large_);
    release_free(small_);
  }
  release_unused_pools(pool);
}

void CachingAllocator::adopt(const Claim& claim, std::uint32_t stream, std::span<const PoolBlock> blocks,
                             std::uint32_t private_pool) {
  // Segments of the large pool are never that small.
  BlockPool& pool = pool_for(claim.bytes == small_segment ? small_max : claim.bytes, pool_of(private_pool));
  Block* rest = add_segment(claim, 0, stream, pool).lowest;
  statistics_.count_claimed(claim.bytes);
  const auto split = [&](std::uint64_t bytes) {
    Block* low = new_block(*rest, rest->address, bytes);
    rest->address += bytes;
    rest->bytes -= bytes;
    insert_between(low, rest->previous, rest);
    return low;
  };
  for (const PoolBlock& block : blocks) {
    if (block.address > rest->address) pool.add_free(split(block.address - rest->address));
    Block* taken = rest->bytes > block.bytes ? split(block.bytes) : rest;
    taken->is_allocated = true;
    taken->requested_bytes = block.requested_bytes;
    allocated_[taken->address] = taken;
    statistics_.count_taken(block.bytes);
    torch_statistics_.active_bytes += block.bytes;
    torch_statistics_.requested_bytes += block.requested_bytes;
  }
  if (!rest->is_allocated) pool.add_free(rest);
  for (const Block* block = segments_[claim.base].lowest; block != nullptr; block = block->next)
    if (!block->is_allocated && block->is_split()) torch_statistics_.inactive_split_bytes += block->bytes;
}

}  // namespace hbmscope::allocator::pytorch
