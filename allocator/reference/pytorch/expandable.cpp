// Expandable segments: addresses are reserved once, and memory is mapped under them as needed.
#include <algorithm>

#include "allocator/reference/pytorch/caching_allocator.h"
#include "allocator/reference/pytorch/sizes.h"

namespace hbmscope::allocator::pytorch {

// The lowest run of free and unmapped blocks in which the request fits; it may begin with a free one. If there is none,
// a new reservation.
Block* CachingAllocator::find_expandable(const Search& search) {
  const auto is_open = [](const Block* block) { return block != nullptr && !block->is_active(); };
  const auto has_room = [&](const Block* block) {
    std::uint64_t bytes = 0;
    for (; bytes < search.bytes && is_open(block); block = block->next) bytes += block->bytes;
    return bytes >= search.bytes;
  };
  BlockPool& pool = *search.pool;
  Block key;
  key.stream = search.stream;
  for (auto at = pool.unmapped.lower_bound(&key); at != pool.unmapped.end() && (*at)->stream == search.stream; ++at) {
    Block* block = is_open((*at)->previous) ? (*at)->previous : *at;
    if (has_room(block)) return block;
  }
  const std::uint64_t page = pool.is_small ? small_segment : large_segment;
  const std::uint64_t bytes = round_up(options_.device_bytes + options_.device_bytes / 8, page);
  if (bytes < search.bytes) return nullptr;
  const auto base = upstream_.reserve(bytes);
  if (!base) return nullptr;
  Block* block = add_segment({*base, bytes}, page, search.stream, pool).lowest;
  block->is_mapped = false;
  pool.unmapped.insert(block);
  return block;
}

// Maps memory under the first bytes of an unmapped block, in multiples of the page. The mapped part, which keeps the
// block's identity, takes over its free neighbours.
bool CachingAllocator::map_low_end(Block* block, std::uint64_t bytes) {
  const Claim claim = {block->address, round_up(bytes, block->segment->page_bytes)};
  if (!upstream_.map(claim)) {
    if (sink_) sink_->on_claim_refused(claim.bytes);
    return false;
  }
  block->pool->unmapped.erase(block);
  block->is_mapped = true;
  if (claim.bytes < block->bytes) {
    Block* rest = new_block(*block, block->address + claim.bytes, block->bytes - claim.bytes);
    rest->is_mapped = false;
    insert_between(rest, block, block->next);
    rest->pool->unmapped.insert(rest);
    block->bytes = claim.bytes;
  }
  join(block, block->previous);
  join(block, block->next);
  block->pool->add_free(block);
  note_claimed(*block, claim);
  return true;
}

// What is mapped before the driver refuses stays mapped.
Block* CachingAllocator::grow_expandable(const Search& search) {
  Block* block = find_expandable(search);
  if (block == nullptr) return nullptr;
  if (!block->is_mapped && !map_low_end(block, std::min(block->bytes, search.bytes))) return nullptr;
  while (block->bytes < search.bytes) {
    Block* next = block->next;
    if (!map_low_end(next, std::min(search.bytes - block->bytes, next->bytes))) return nullptr;
    block = next;
  }
  search.pool->free.erase(block);
  return block;
}

// Unmaps the whole pages of a free block, after the work on its stream. The reservation goes with its last mapped part.
void CachingAllocator::unmap(Block* block) {
  const Segment& segment = *block->segment;
  const std::uint64_t base = segment.claim.base;
  const std::uint64_t old_end = block->address + block->bytes;
  const std::uint64_t begin = base + round_up(block->address - base, segment.page_bytes);
  const std::uint64_t end = base + round_down(old_end - base, segment.page_bytes);
  if (begin >= end) return;
  if (pending_.progress() != nullptr) pending_.progress()->wait_for_stream(block->stream);
  upstream_.unmap({begin, end - begin});
  BlockPool& pool = *block->pool;
  pool.free.erase(block);
  if (begin > block->address) {
    Block* low = new_block(*block, block->address, begin - block->address);
    insert_between(low, block->previous, block);
    pool.add_free(low);
  }
  if (end < old_end) {
    Block* high = new_block(*block, end, old_end - end);
    insert_between(high, block, block->next);
    pool.add_free(high);
  }
  block->address = begin;
  block->bytes = end - begin;
  block->is_mapped = false;
  join(block, block->previous);
  join(block, block->next);
  pool.unmapped.insert(block);
  note(Action::segment_unmapped, begin, end - begin, block->stream, pool.id());
  note_released(segment.number, pool, {begin, end - begin});
  if (!block->is_split()) unreserve(block);
}

void CachingAllocator::unreserve(Block* block) {
  const Claim addresses = block->segment->claim;
  block->pool->unmapped.erase(block);
  segments_.erase(addresses.base);
  delete_block(block);
  upstream_.unreserve(addresses);
}

}  // namespace hbmscope::allocator::pytorch
