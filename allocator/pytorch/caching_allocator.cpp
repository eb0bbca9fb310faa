#include "allocator/pytorch/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "allocator/pytorch/sizes.h"

namespace hbmscope::allocator::pytorch {
namespace {

constexpr std::uint64_t block_step = 512;
constexpr std::uint64_t small_max = mib;           // Requests up to this size are served from the small pool.
constexpr std::uint64_t small_segment = 2 * mib;   // Segment size of the small pool.
constexpr std::uint64_t large_segment = 20 * mib;  // Segment size of the large pool, for requests
constexpr std::uint64_t large_request = 10 * mib;  // below this size; larger requests get their own segment,
constexpr std::uint64_t segment_step = 2 * mib;    // rounded up to a multiple of this.

std::uint64_t segment_bytes_for(std::uint64_t bytes) {
  if (bytes <= small_max) return small_segment;
  return bytes < large_request ? large_segment : round_up(bytes, segment_step);
}

// The low bit is set for the small pool.
std::uint32_t owner_of(std::uint32_t stream, bool is_small) {
  return stream * 2 + (is_small ? 1 : 0);
}
bool is_small(std::uint32_t owner) {
  return owner % 2 == 1;
}

// Rounds up to the next of `divisions` equal steps between two powers of two.
std::uint64_t next_division(std::uint64_t bytes, std::uint64_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const std::uint64_t step = std::bit_floor(bytes) / divisions;
  return step == 0 ? std::bit_ceil(bytes) : round_up(bytes, step);
}

}  // namespace

CachingAllocator::~CachingAllocator() {
  for (const Claim& claim : claims()) {
    const bool is_segment = std::any_of(segments_.begin(), segments_.end(), [&](const auto& row) {
      return !row.second.is_expandable && row.second.claim.base == claim.base;
    });
    is_segment ? upstream_.release(claim) : upstream_.unmap(claim);
  }
  for (const auto& [number, segment] : segments_)
    if (segment.is_expandable) upstream_.unreserve(segment.claim);
}

std::uint64_t CachingAllocator::rounded_bytes(std::uint64_t bytes) const {
  const std::uint64_t divisions = options_.roundup_power2_divisions;
  if (divisions > 1 && bytes > block_step * divisions) return next_division(bytes, divisions);
  return std::max(block_step, round_up(bytes, block_step));
}

bool CachingAllocator::is_whole(At chunk) {
  return map_.previous_of(chunk) == map_.end() && map_.next_of(chunk) == map_.end();
}

// The smallest free block of the pool that fits; of equal ones, the lowest.
CachingAllocator::At CachingAllocator::find_free(const Search& search) {
  const ChunkMap::FreeChunks& free = map_.free_of(search.owner);
  auto found = free.lower_bound({search.bytes, 0});
  if (found == free.end()) return map_.end();
  if (options_.expandable_segments) {
    // A chunk that can grow counts with the size that it could reach, so a smaller one that can't grow is preferred.
    for (auto next = std::next(found);
         next != free.end() && !is_whole(map_.find(found->second)) &&
         expandable_bytes(map_.find(next->second)) < expandable_bytes(map_.find(found->second));
         ++next)
      found = next;
  }
  const std::uint64_t bytes = found->first;
  if (search.bytes < options_.max_split_bytes && bytes >= options_.max_split_bytes) return map_.end();
  if (search.bytes >= options_.max_split_bytes && bytes >= search.bytes + options_.max_non_split_rounding_bytes)
    return map_.end();
  return map_.find(found->second);
}

void CachingAllocator::note_claimed(std::uint32_t segment, const Claim& claim) {
  statistics_.count_claimed(claim.bytes);
  if (sink_) sink_->on_region_claimed(segment, claim, claim.bytes);
}

void CachingAllocator::note_released(std::uint32_t segment, const Claim& claim) {
  statistics_.pool_bytes -= claim.bytes;
  if (sink_) sink_->on_region_released(segment, claim);
}

CachingAllocator::At CachingAllocator::claim_segment(const Search& search) {
  const auto claim = upstream_.claim(search.segment_bytes);
  if (!claim) {
    if (sink_) sink_->on_claim_refused(search.segment_bytes);
    return map_.end();
  }
  const std::uint32_t number = segments_claimed_++;
  segments_[number] = {*claim, false, 0};
  note_claimed(number, *claim);
  return map_.add(claim->base, {claim->bytes, 0, number, search.owner, ChunkMap::State::free});
}

CachingAllocator::At CachingAllocator::grow(const Search& search) {
  return options_.expandable_segments ? grow_expandable(search) : claim_segment(search);
}

bool CachingAllocator::should_split(std::uint64_t chunk_bytes, const Search& search) const {
  const std::uint64_t rest = chunk_bytes - search.bytes;
  if (is_small(search.owner) || options_.expandable_segments) return rest >= block_step;
  return search.bytes < options_.max_split_bytes && rest > small_max;
}

Allocation CachingAllocator::allocate(const Request& request) {
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (request.bytes > request_bytes_max) return {};
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  const Search search = {bytes, segment_bytes_for(bytes), owner_of(request.stream, bytes <= small_max)};
  At found = find_free(search);
  if (found == map_.end()) found = grow(search);
  if (found == map_.end() && release_oversized(search)) found = grow(search);
  if (found == map_.end()) {
    release_cached();
    found = grow(search);
  }
  if (found == map_.end()) return {};
  if (should_split(found->second.bytes, search)) map_.split(found, bytes);
  map_.set_state(found, ChunkMap::State::in_use);
  found->second.requested_bytes = request.bytes;
  statistics_.count_taken(found->second.bytes);
  return {Outcome::allocated,  Fault::none,      false, found->second.region, found->first,
          found->second.bytes, ++allocation_ids_};
}

FreeOutcome CachingAllocator::free(std::uint64_t address) {
  const At found = map_.find(address);
  if (found == map_.end() || found->second.state != ChunkMap::State::in_use) return FreeOutcome::unknown_address;
  statistics_.in_use_bytes -= found->second.bytes;
  map_.set_state(found, ChunkMap::State::free);
  map_.join(found);
  return FreeOutcome::freed;
}

void CachingAllocator::release_segment(At chunk) {
  const std::uint32_t number = chunk->second.region;
  const Claim claim = segments_[number].claim;
  map_.remove(chunk);
  segments_.erase(number);
  upstream_.release(claim);
  note_released(number, claim);
}

// With a limit on split sizes, larger free blocks are released first: one that is large enough, or as many as add up to
// the request. False: they do not.
bool CachingAllocator::release_oversized(const Search& search) {
  if (options_.max_split_bytes == no_limit || options_.expandable_segments) return false;
  const std::uint64_t needed = std::max(search.bytes, options_.max_split_bytes);
  const ChunkMap::FreeChunks& free = map_.free_of(search.owner);
  if (const auto found = free.lower_bound({needed, 0}); found != free.end()) {
    release_segment(map_.find(found->second));
    return true;
  }
  std::uint64_t released = 0;
  while (released < needed && !free.empty() && free.rbegin()->first >= options_.max_split_bytes) {
    released += free.rbegin()->first;
    release_segment(map_.find(free.rbegin()->second));
  }
  return released >= needed;
}

void CachingAllocator::release_of(std::uint32_t owner) {
  const ChunkMap::FreeChunks free = map_.free_of(owner);  // A copy, because an unmapped chunk joins others.
  std::vector<std::uint64_t> expandable;
  for (const auto& [bytes, address] : free) {
    const At chunk = map_.find(address);
    if (segments_[chunk->second.region].is_expandable)
      expandable.push_back(address);
    else if (is_whole(chunk))
      release_segment(chunk);
  }
  for (const std::uint64_t address : expandable) unmap(map_.find(address));
}

void CachingAllocator::release_cached() {
  std::set<std::uint32_t> owners;
  for (const auto& [address, chunk] : map_.chunks()) owners.insert(chunk.owner);
  for (const bool small : {false, true})
    for (const std::uint32_t owner : owners)
      if (is_small(owner) == small) release_of(owner);
}

void CachingAllocator::adopt(const Claim& segment, std::uint32_t stream, std::span<const PoolBlock> blocks) {
  const std::uint32_t number = segments_claimed_++;
  segments_[number] = {segment, false, 0};
  statistics_.count_claimed(segment.bytes);
  // Segments of the large pool are never that small.
  const std::uint32_t owner = owner_of(stream, segment.bytes == small_segment);
  At rest = map_.add(segment.base, {segment.bytes, 0, number, owner, ChunkMap::State::free});
  for (const PoolBlock& block : blocks) {
    if (block.address > rest->first) rest = map_.split(rest, block.address - rest->first);
    const At taken = rest;
    if (taken->second.bytes > block.bytes) rest = map_.split(taken, block.bytes);
    map_.set_state(taken, ChunkMap::State::in_use);
    taken->second.requested_bytes = block.requested_bytes;
    statistics_.count_taken(block.bytes);
  }
}

Statistics CachingAllocator::statistics() const {
  Statistics statistics = statistics_;
  statistics.largest_free_bytes = largest_free_bytes();
  return statistics;
}

// For an expandable segment: its mapped ranges.
std::vector<Claim> CachingAllocator::claims() const {
  std::vector<Claim> claims;
  std::uint32_t last = 0;
  for (const auto& [address, chunk] : map_.chunks()) {
    if (chunk.state == ChunkMap::State::unmapped) continue;
    const bool goes_on = !claims.empty() && last == chunk.region && claims.back().base + claims.back().bytes == address;
    if (goes_on)
      claims.back().bytes += chunk.bytes;
    else
      claims.push_back({address, chunk.bytes});
    last = chunk.region;
  }
  return claims;
}

}  // namespace hbmscope::allocator::pytorch
