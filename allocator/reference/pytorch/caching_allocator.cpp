#include "allocator/reference/pytorch/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "allocator/reference/pytorch/sizes.h"

namespace hbmscope::allocator::pytorch {
namespace {

std::uint64_t segment_bytes_for(std::uint64_t bytes) {
  if (bytes <= small_max) return small_segment;
  return bytes < large_request ? large_segment : round_up(bytes, segment_step);
}

// Rounds up to the next of `divisions` equal steps between two powers of two.
std::uint64_t next_division(std::uint64_t bytes, std::uint64_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const std::uint64_t step = std::bit_floor(bytes) / divisions;
  return step == 0 ? std::bit_ceil(bytes) : round_up(bytes, step);
}

// The entry of RoundupDivisions for this size.
std::uint64_t divisions_for(std::uint64_t bytes, const RoundupDivisions& divisions) {
  const std::uint64_t mebibytes = std::max(bytes / mib, std::uint64_t{1});
  const auto entry = static_cast<std::size_t>(std::bit_width(mebibytes) - 1);
  return divisions[std::min(entry, divisions.size() - 1)];
}

std::uint64_t limit_from(const Options& options) {
  if (options.memory_fraction >= 1) return no_limit;
  return static_cast<std::uint64_t>(options.memory_fraction * static_cast<double>(options.device_bytes));
}

// How large the block could get by mapping the addresses behind it.
std::uint64_t expandable_bytes(const Block& block) {
  const bool can_grow = block.next != nullptr && !block.next->is_mapped;
  return block.bytes + (can_grow ? block.next->bytes : 0);
}

}  // namespace

CachingAllocator::CachingAllocator(Upstream& upstream, const Options& options)
    : Allocator(upstream), options_(options), limit_bytes_(limit_from(options)) {
  statistics_.limit_bytes = limit_bytes_;
}

CachingAllocator::~CachingAllocator() {
  const std::vector<Claim> all = claims();
  for (const Claim& claim : all) {
    const auto segment = std::prev(segments_.upper_bound(claim.base));
    segment->second.is_expandable() ? upstream_.unmap(claim) : upstream_.release(claim);
  }
  for (const auto& [base, segment] : segments_)
    if (segment.is_expandable()) upstream_.unreserve(segment.claim);
}

std::uint64_t CachingAllocator::rounded_bytes(std::uint64_t bytes) const {
  if (options_.lifted.rounding) return bytes;
  const std::uint64_t divisions = divisions_for(bytes, options_.roundup_power2_divisions);
  if (divisions > 1 && bytes > block_step * divisions) return next_division(bytes, divisions);
  return std::max(block_step, round_up(bytes, block_step));
}

void CachingAllocator::note(Action action, std::uint64_t address, std::uint64_t bytes, std::uint32_t stream,
                            PoolId pool) {
  if (tracker_ != nullptr) tracker_->on_event({action, address, bytes, stream, pool});
}

// The pool that records, or the one that the request names.
PoolId CachingAllocator::pool_of(std::uint32_t private_pool) {
  if (options_.lifted.private_pools) return default_pool;
  if (is_recording()) return recording_.back();
  if (private_pool == 0) return default_pool;
  const PoolId id = {private_pool, 0};
  if (find_pool(id) == nullptr) create_pool(id);
  return id;
}

BlockPool& CachingAllocator::pool_for(std::uint64_t bytes, PoolId id) {
  const bool is_small = bytes <= small_max;
  if (id == default_pool) return is_small ? small_ : large_;
  PrivatePool& pool = *find_pool(id);
  return is_small ? pool.small : pool.large;
}

// The smallest free block of the stream that fits; of equal ones, the lowest.
Block* CachingAllocator::take_free(const Search& search) {
  BlockPool& pool = *search.pool;
  if (collects_garbage()) ++pool.searches;
  Block key;
  key.stream = search.stream;
  key.bytes = search.bytes;
  auto found = pool.free.lower_bound(&key);
  if (found == pool.free.end() || (*found)->stream != search.stream) return nullptr;
  // A block that can grow counts with the size that it could reach, so a larger one that can't grow as far is
  // preferred.
  for (auto next = std::next(found);
       options_.expandable_segments && (*found)->segment->is_expandable() && next != pool.free.end() &&
       (*next)->stream == search.stream && expandable_bytes(**next) < expandable_bytes(**found);
       ++next)
    found = next;
  const std::uint64_t bytes = (*found)->bytes;
  if (search.bytes < max_split_bytes() && bytes >= max_split_bytes()) return nullptr;
  if (search.bytes >= max_split_bytes() && bytes >= search.bytes + options_.max_non_split_rounding_bytes)
    return nullptr;
  Block* block = *found;
  pool.free.erase(found);
  return block;
}

Block* CachingAllocator::grow(const Search& search) {
  if (limit_bytes_ != no_limit && statistics_.pool_bytes + search.segment_bytes > limit_bytes_) {
    if (sink_) sink_->on_claim_refused(search.segment_bytes);
    return nullptr;
  }
  Block* block = options_.expandable_segments ? grow_expandable(search) : claim_segment(search);
  if (block != nullptr && search.pool->owner != nullptr) ++search.pool->owner->segments;
  return block;
}

Block* CachingAllocator::find_block(const Search& search) {
  if (Block* found = take_free(search)) return found;
  if (collects_garbage()) collect_garbage();
  if (Block* found = grow(search)) return found;
  if (release_oversized(search))
    if (Block* found = grow(search)) return found;
  // A graph that is being captured must keep its addresses, and no stream can be waited for.
  if (search.is_private) return nullptr;
  release_cached();
  ++torch_statistics_.retries;
  return grow(search);
}

bool CachingAllocator::should_split(const Block& block, const Search& search) const {
  const std::uint64_t rest = block.bytes - search.bytes;
  if (options_.lifted.unsplit) return rest > 0;
  if (search.pool->is_small || options_.expandable_segments) return rest >= block_step;
  return search.bytes < options_.max_split_bytes && rest > small_max;
}

// The request gets the low end of the block; what is left keeps the block's identity.
Block* CachingAllocator::hand_out(Block* block, const Search& search, std::uint64_t requested_bytes) {
  const bool was_split = block->is_split();
  const bool counts_as_split = !block->segment->is_expandable();
  std::uint64_t& inactive_split_bytes = torch_statistics_.inactive_split_bytes;
  if (should_split(*block, search)) {
    Block* rest = block;
    block = new_block(*rest, rest->address, search.bytes);
    rest->address += search.bytes;
    rest->bytes -= search.bytes;
    insert_between(block, rest->previous, rest);
    search.pool->add_free(rest);
    if (counts_as_split) was_split ? inactive_split_bytes -= block->bytes : inactive_split_bytes += rest->bytes;
  } else if (was_split && counts_as_split) {
    inactive_split_bytes -= block->bytes;
  }
  block->is_allocated = true;
  block->requested_bytes = requested_bytes;
  allocated_[block->address] = block;
  note(Action::allocated, block->address, requested_bytes, block->stream, block->pool->id());
  statistics_.count_taken(block->bytes);
  torch_statistics_.active_bytes += block->bytes;
  torch_statistics_.requested_bytes += requested_bytes;
  return block;
}

Allocation CachingAllocator::refuse(const Search& search) {
  note(Action::out_of_memory, 0, search.bytes, search.stream, search.pool->id());
  ++torch_statistics_.out_of_memories;
  return {};
}

Allocation CachingAllocator::allocate(const Request& request) {
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (request.bytes > request_bytes_max) return {};
  const PoolId pool = pool_of(request.private_pool);
  const bool is_private = is_recording() || pool != default_pool;
  if (!is_private) free_blocks(pending_.take_done());
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  const std::uint32_t stream = options_.lifted.streams ? 0 : request.stream;
  const Search search = {bytes, segment_bytes_for(bytes), stream, &pool_for(bytes, pool), is_private};
  Block* found = find_block(search);
  if (found == nullptr) return refuse(search);
  const Block* block = hand_out(found, search, request.bytes);
  return {Outcome::allocated, Fault::none,      false, block->segment->number, block->address,
          block->bytes,       ++allocation_ids_};
}

FreeOutcome CachingAllocator::free(std::uint64_t address) {
  const auto found = allocated_.find(address);
  if (found == allocated_.end()) return FreeOutcome::unknown_address;
  Block* block = found->second;
  allocated_.erase(found);
  block->is_allocated = false;
  statistics_.in_use_bytes -= block->bytes;
  note(Action::free_requested, address, block->requested_bytes, block->stream, block->pool->id());
  if (!pending_.add(block, is_recording())) free_block(block);
  return FreeOutcome::freed;
}

bool CachingAllocator::record_stream(std::uint64_t address, std::uint32_t stream) {
  const auto found = allocated_.find(address);
  if (found == allocated_.end()) return false;
  if (found->second->stream != stream) pending_.note_use(found->second, stream, is_recording());
  return true;
}

}  // namespace hbmscope::allocator::pytorch
