// Blocks join and split; segments as others see them.
#include <algorithm>

#include "allocator/reference/pytorch/caching_allocator.h"

namespace hbmscope::allocator::pytorch {

Block* CachingAllocator::new_block(const Block& like, std::uint64_t address, std::uint64_t bytes) {
  if (spare_.empty()) spare_.push_back(&blocks_.emplace_back());
  Block* block = spare_.back();
  spare_.pop_back();
  *block = {};
  block->address = address;
  block->bytes = bytes;
  block->stream = like.stream;
  block->pool = like.pool;
  block->segment = like.segment;
  return block;
}

void CachingAllocator::delete_block(Block* block) {
  pending_.forget(block);
  spare_.push_back(block);
}

void CachingAllocator::insert_between(Block* block, Block* previous, Block* next) {
  block->previous = previous;
  block->next = next;
  if (previous != nullptr)
    previous->next = block;
  else
    block->segment->lowest = block;
  if (next != nullptr) next->previous = block;
}

// The block, in no set, takes over a free neighbour, or addresses without memory if it has none itself. Returns how
// many bytes it got, or 0 if they can't join.
std::uint64_t CachingAllocator::join(Block* block, Block* neighbour) {
  if (neighbour == nullptr || neighbour->is_active() || neighbour->is_mapped != block->is_mapped) return 0;
  const std::uint64_t bytes = neighbour->bytes;
  Block* below = block->previous;
  Block* above = block->next;
  if (neighbour == block->previous) {
    below = neighbour->previous;
    block->address -= bytes;
  } else {
    above = neighbour->next;
  }
  (neighbour->is_mapped ? neighbour->pool->free.erase(neighbour) : neighbour->pool->unmapped.erase(neighbour));
  insert_between(block, below, above);
  block->bytes += bytes;
  delete_block(neighbour);
  return bytes;
}

void CachingAllocator::free_block(Block* block) {
  note(Action::free_completed, block->address, block->requested_bytes, block->stream, block->pool->id());
  torch_statistics_.active_bytes -= block->bytes;
  torch_statistics_.requested_bytes -= block->requested_bytes;
  std::uint64_t joined = join(block, block->previous);
  joined += join(block, block->next);
  block->pool->add_free(block);
  if (block->segment->is_expandable()) {
    if (options_.lifted.kept) unmap(block);
    return;
  }
  torch_statistics_.inactive_split_bytes -= joined;
  if (block->is_split())
    torch_statistics_.inactive_split_bytes += block->bytes;
  else if (options_.lifted.kept)
    release_segment(block);
}

void CachingAllocator::free_blocks(const std::vector<Block*>& blocks) {
  for (Block* block : blocks) {
    block->pending_events = 0;
    free_block(block);
  }
}

Statistics CachingAllocator::statistics() const {
  Statistics statistics = statistics_;
  statistics.largest_free_bytes = largest_free_bytes();
  return statistics;
}

std::uint64_t CachingAllocator::largest_free_bytes() const {
  std::uint64_t largest = 0;
  // The last block of a stream is its largest.
  const auto look_at = [&](const BlockPool& pool) {
    Block key;
    key.bytes = no_limit;
    key.address = no_limit;
    for (auto at = pool.free.begin(); at != pool.free.end();) {
      key.stream = (*at)->stream;
      at = pool.free.upper_bound(&key);
      largest = std::max(largest, (*std::prev(at))->bytes);
    }
  };
  look_at(large_);
  look_at(small_);
  for (const auto& [id, pool] : private_pools_) {
    look_at(pool->large);
    look_at(pool->small);
  }
  return largest;
}

// For an expandable segment: its mapped ranges.
std::vector<Claim> CachingAllocator::claims() const {
  std::vector<Claim> claims;
  for (const SnapshotSegment& segment : snapshot()) claims.push_back({segment.address, segment.bytes});
  return claims;
}

std::vector<PoolBlock> CachingAllocator::pool_blocks() const {
  std::vector<PoolBlock> blocks;
  for (const auto& [base, segment] : segments_)
    for (const Block* block = segment.lowest; block != nullptr; block = block->next) {
      if (!block->is_mapped) continue;
      const bool in_use = block->is_active();
      blocks.push_back({block->address, block->bytes, in_use ? block->requested_bytes : 0, in_use});
    }
  return blocks;
}

std::size_t CachingAllocator::chunks() const {
  std::size_t chunks = 0;
  for (const auto& [base, segment] : segments_)
    for (const Block* block = segment.lowest; block != nullptr; block = block->next) chunks += block->is_mapped ? 1 : 0;
  return chunks;
}

std::vector<SnapshotSegment> CachingAllocator::snapshot() const {
  std::vector<SnapshotSegment> segments;
  for (const auto& [base, segment] : segments_)
    for (const Block* block = segment.lowest; block != nullptr; block = block->next) {
      if (!block->is_mapped) continue;
      if (block->previous == nullptr || !block->previous->is_mapped)
        segments.push_back(
            {block->address, 0, block->stream, !block->pool->is_small, segment.is_expandable(), block->pool->id(), {}});
      segments.back().bytes += block->bytes;
      segments.back().blocks.push_back(
          {block->address, block->bytes, block->requested_bytes, block->is_allocated, block->is_active()});
    }
  return segments;
}

}  // namespace hbmscope::allocator::pytorch
