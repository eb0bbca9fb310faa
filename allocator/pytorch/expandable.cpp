// Expandable segments: addresses are reserved once, and memory is mapped under them as needed.
#include "allocator/pytorch/caching_allocator.h"
#include "allocator/pytorch/sizes.h"

namespace hbmscope::allocator::pytorch {
// Includes the addresses behind the chunk that have no memory yet.
std::uint64_t CachingAllocator::expandable_bytes(At chunk) {
  const At next = map_.next_of(chunk);
  const bool can_grow = next != map_.end() && next->second.state == ChunkMap::State::unmapped;
  return chunk->second.bytes + (can_grow ? next->second.bytes : 0);
}

// The lowest run of free and unmapped chunks in which the request fits; it may begin with a free one. If there is none,
// a new reservation.
CachingAllocator::At CachingAllocator::find_expandable(const Search& search) {
  const auto is_open = [&](At chunk) { return chunk != map_.end() && chunk->second.state != ChunkMap::State::in_use; };
  const auto has_room = [&](At chunk) {
    std::uint64_t bytes = 0;
    for (; bytes < search.bytes && is_open(chunk); chunk = map_.next_of(chunk)) bytes += chunk->second.bytes;
    return bytes >= search.bytes;
  };
  for (const std::uint64_t address : map_.unmapped_of(search.owner)) {
    At chunk = map_.find(address);
    if (const At previous = map_.previous_of(chunk); is_open(previous)) chunk = previous;
    if (has_room(chunk)) return chunk;
  }
  const std::uint64_t piece = search.owner % 2 == 1 ? 2 * mib : 20 * mib;
  const std::uint64_t bytes = round_up(options_.device_bytes + options_.device_bytes / 8, piece);
  if (bytes < search.bytes) return map_.end();
  const auto base = upstream_.reserve(bytes);
  if (!base) return map_.end();
  const std::uint32_t number = segments_claimed_++;
  segments_[number] = {{*base, bytes}, true, piece};
  return map_.add(*base, {bytes, 0, number, search.owner, ChunkMap::State::unmapped});
}

// Maps memory under the first bytes of an unmapped chunk, in multiples of piece_bytes. The mapped part joins a free
// chunk before it.
CachingAllocator::At CachingAllocator::map_low_end(At chunk, std::uint64_t bytes) {
  const std::uint32_t number = chunk->second.region;
  const Segment& segment = segments_[number];
  const Claim claim = {chunk->first, round_up(bytes, segment.piece_bytes)};
  if (!upstream_.map(claim)) {
    if (sink_) sink_->on_claim_refused(claim.bytes);
    return map_.end();
  }
  note_claimed(number, claim);
  if (claim.bytes < chunk->second.bytes) map_.split(chunk, claim.bytes);
  map_.set_state(chunk, ChunkMap::State::free);
  return map_.join(chunk);
}

CachingAllocator::At CachingAllocator::grow_expandable(const Search& search) {
  At chunk = find_expandable(search);
  if (chunk == map_.end()) return chunk;
  if (chunk->second.state == ChunkMap::State::unmapped) {
    chunk = map_low_end(chunk, std::min(chunk->second.bytes, search.bytes));
    if (chunk == map_.end()) return chunk;
  }
  while (chunk->second.bytes < search.bytes) {
    const At next = map_.next_of(chunk);
    chunk = map_low_end(next, std::min(search.bytes - chunk->second.bytes, next->second.bytes));
    if (chunk == map_.end()) return chunk;
  }
  return chunk;
}

// Unmaps the aligned part of a free chunk, in multiples of piece_bytes. The reservation goes with its last mapped part.
void CachingAllocator::unmap(At chunk) {
  const std::uint32_t number = chunk->second.region;
  const Segment segment = segments_[number];
  const std::uint64_t begin = segment.claim.base + round_up(chunk->first - segment.claim.base, segment.piece_bytes);
  const std::uint64_t end =
      segment.claim.base + round_down(chunk->first + chunk->second.bytes - segment.claim.base, segment.piece_bytes);
  if (begin >= end) return;
  if (begin > chunk->first) chunk = map_.split(chunk, begin - chunk->first);
  if (end < chunk->first + chunk->second.bytes) map_.split(chunk, end - begin);
  map_.set_state(chunk, ChunkMap::State::unmapped);
  upstream_.unmap({begin, end - begin});
  note_released(number, {begin, end - begin});
  chunk = map_.join(chunk);
  if (!is_whole(chunk)) return;
  map_.remove(chunk);
  segments_.erase(number);
  upstream_.unreserve(segment.claim);
}

}  // namespace hbmscope::allocator::pytorch
