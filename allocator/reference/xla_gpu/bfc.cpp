#include "allocator/reference/xla_gpu/bfc.h"

#include <algorithm>
#include <bit>

namespace hbmscope::allocator::xla_gpu {
namespace {

std::uint64_t internal_fragmentation_max_of(const Options& options) {
  if (options.fragmentation_fraction <= 0) return usual_internal_fragmentation_max;
  return static_cast<std::uint64_t>(options.fragmentation_fraction * static_cast<double>(options.limit_bytes));
}

}  // namespace

const char* find_fault_of(const Options& options) {
  if (options.limit_bytes == 0) return "the limit is 0";
  if (options.limit_bytes > request_bytes_max - min_chunk_bytes) return "the limit is beyond 2^63 bytes";
  if (!(options.fragmentation_fraction >= 0 && options.fragmentation_fraction <= 1))
    return "the fragmentation fraction is not between 0 and 1";
  if (internal_fragmentation_max_of(options) == 0) return "the fragmentation fraction is less than a byte of the limit";
  if (rules_of(options.version).is_spatial && options.allow_growth) return "a pool with two ends can't grow";
  return nullptr;
}

Bfc::Bfc(Upstream& upstream, const Options& options)
    : Allocator(upstream),
      options_(options),
      rules_(rules_of(options.lifted.ends ? Version::classic_align : options.version)),
      internal_fragmentation_max_(internal_fragmentation_max_of(options)),
      next_region_bytes_(xla_gpu::rounded_bytes(options.allow_growth ? std::min(options.limit_bytes, first_growth_bytes)
                                                                     : options.limit_bytes)) {
  statistics_.limit_bytes = options.limit_bytes;
}

Bfc::~Bfc() {
  for (const Region& region : regions_) upstream_.release(region.claim);
}

const SpacePolicy& Bfc::policy_of(Space space) const {
  return space == Space::collective ? rules_.collective_memory : rules_.default_memory;
}

Allocation Bfc::fail() {
  Allocation answer;
  answer.outcome = fault_ == Fault::none ? Outcome::out_of_memory : Outcome::fault;
  answer.fault = fault_;
  return answer;
}

Allocation Bfc::allocate(const Request& request) {
  if (fault_ != Fault::none) return fail();
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (!std::has_single_bit(request.alignment)) {
    fault_ = Fault::bad_alignment;
    return fail();
  }
  if (request.bytes > request_bytes_max || request.alignment > request_bytes_max) return fail();
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  const std::uint64_t least_alignment = options_.lifted.rounding ? 1 : min_chunk_bytes;
  const bool is_aligned = rules_.honours_alignment && request.alignment > min_chunk_bytes;
  const std::uint64_t alignment = is_aligned ? request.alignment : least_alignment;
  if (const auto served = serve(bytes, alignment, request)) return *served;
  if (extend(bytes))
    if (const auto served = serve(bytes, alignment, request)) return *served;
  if (fault_ == Fault::none && release_free_regions(bytes) && extend(bytes))
    if (const auto served = serve(bytes, alignment, request)) return *served;
  return fail();
}

bool Bfc::fits(const Chunk& chunk, std::uint64_t bytes, std::uint64_t alignment, Tag end) const {
  if (chunk.bytes < bytes) return false;
  if (alignment <= min_chunk_bytes) return true;
  if (end == Tag::upper) return align_down(chunk.end() - bytes, alignment) >= chunk.address;
  return align_up(chunk.address, alignment) - chunk.address <= chunk.bytes - bytes;
}

ChunkIndex Bfc::find_hole(std::uint64_t bytes, std::uint64_t alignment, const SpacePolicy& policy) const {
  const FreeChunks& holes = free_of(policy.end);
  const auto holds = [&](const Chunk& chunk) { return fits(chunk, bytes, alignment, policy.end); };
  const ChunkIndex first =
      alignment <= min_chunk_bytes ? holes.find_first(pool_, bytes) : holes.find_first(pool_, bytes, holds);
  if (first == no_chunk || !policy.takes_highest_of_equals) return first;
  return holes.find_last_of(pool_, pool_[first].bytes, holds);
}

std::optional<Allocation> Bfc::serve(std::uint64_t bytes, std::uint64_t alignment, const Request& request) {
  const SpacePolicy& policy = policy_of(request.space);
  bool exactly = policy.splits_holes_exactly || options_.lifted.unsplit;
  ChunkIndex chunk = find_hole(bytes, alignment, policy);
  if (chunk == no_chunk) {
    if (gap_ == no_chunk || !fits(pool_[gap_], bytes, alignment, policy.end)) return {};
    chunk = gap_;
    exactly = policy.splits_gap_exactly || options_.lifted.unsplit;
  }
  erase_free(chunk);
  chunk = policy.end == Tag::upper ? carve_upper(chunk, bytes, alignment, exactly)
                                   : carve_lower(chunk, bytes, alignment, exactly);
  return finish(chunk, policy.end, request.bytes);
}

Allocation Bfc::finish(ChunkIndex index, Tag tag, std::uint64_t requested_bytes) {
  Chunk& chunk = pool_[index];
  chunk.tag = tag;
  chunk.in_use = true;
  chunk.requested_bytes = requested_bytes;
  blocks_.insert(chunk.address, index);
  statistics_.count_taken(chunk.bytes);
  if (counts_needed()) count_needed();
  return {Outcome::allocated, Fault::none, tag == Tag::upper, chunk.region,
          chunk.address,      chunk.bytes, ++allocation_ids_};
}

FreeOutcome Bfc::free(std::uint64_t address) {
  if (fault_ != Fault::none) return FreeOutcome::fault;
  const ChunkIndex index = blocks_.take(address);
  if (index == no_chunk) return FreeOutcome::unknown_address;
  Chunk& chunk = pool_[index];
  chunk.in_use = false;
  statistics_.in_use_bytes -= chunk.bytes;
  if (rules_.is_spatial) {
    // The outermost chunk of an end borders on the gap, or on where the gap would be: it returns to the gap.
    const ChunkIndex inward = chunk.tag == Tag::upper ? chunk.previous : chunk.next;
    if (inward == no_chunk || pool_[inward].tag != chunk.tag) chunk.tag = Tag::gap;
  }
  const ChunkIndex freed = coalesce(index);
  insert_free(freed);
  if (options_.lifted.kept) keep_nothing(freed);
  return fault_ == Fault::none ? FreeOutcome::freed : FreeOutcome::fault;
}

void Bfc::insert_free(ChunkIndex chunk) {
  const Tag tag = pool_[chunk].tag;
  if (tag != Tag::gap) {
    free_of(tag).insert(pool_, chunk);
  } else if (gap_ == no_chunk) {
    gap_ = chunk;
  } else {
    fault_ = Fault::second_gap;
  }
}

void Bfc::erase_free(ChunkIndex chunk) {
  if (chunk == gap_)
    gap_ = no_chunk;
  else
    free_of(pool_[chunk].tag).erase(pool_, chunk);
}

ChunkIndex Bfc::coalesce(ChunkIndex chunk) {
  const ChunkIndex next = pool_[chunk].next;
  if (next != no_chunk && !pool_[next].in_use) {
    erase_free(next);
    merge(chunk, next);
  }
  const ChunkIndex previous = pool_[chunk].previous;
  if (previous == no_chunk || pool_[previous].in_use) return chunk;
  erase_free(previous);
  merge(previous, chunk);
  return previous;
}

// The first chunk absorbs the second. If their owners differ, the result belongs to the gap.
void Bfc::merge(ChunkIndex first, ChunkIndex second) {
  Chunk& kept = pool_[first];
  const Chunk& gone = pool_[second];
  if (kept.tag != gone.tag) kept.tag = Tag::gap;
  kept.bytes += gone.bytes;
  kept.next = gone.next;
  if (gone.next != no_chunk)
    pool_[gone.next].previous = first;
  else
    last_ = first;
  pool_.remove(second);
}

std::uint64_t Bfc::largest_free_bytes() const {
  const std::uint64_t holes = std::max(free_[0].largest_bytes(pool_), free_[1].largest_bytes(pool_));
  return gap_ == no_chunk ? holes : std::max(holes, pool_[gap_].bytes);
}

std::uint64_t Bfc::largest_usable_bytes(Space space) const {
  const std::uint64_t holes = free_of(policy_of(space).end).largest_bytes(pool_);
  return gap_ == no_chunk ? holes : std::max(holes, pool_[gap_].bytes);
}

Statistics Bfc::statistics() const {
  Statistics statistics = statistics_;
  statistics.largest_free_bytes = largest_free_bytes();
  return statistics;
}

std::vector<Claim> Bfc::claims() const {
  std::vector<Claim> claims;
  for (const Region& region : regions_) claims.push_back(region.claim);
  return claims;
}

std::vector<PoolBlock> Bfc::pool_blocks() const {
  std::vector<PoolBlock> blocks;
  for_each_chunk([&](ChunkIndex, const Chunk& chunk) {
    blocks.push_back({chunk.address, chunk.bytes, chunk.in_use ? chunk.requested_bytes : 0, chunk.in_use});
  });
  return blocks;
}

std::array<BinTotals, bin_count> Bfc::bin_totals() const {
  std::array<BinTotals, bin_count> totals{};
  for_each_chunk([&](ChunkIndex index, const Chunk& chunk) {
    if (index == gap_) return;
    BinTotals& bin = totals[bin_of(chunk.bytes)];
    ++bin.chunks;
    bin.bytes += chunk.bytes;
    if (!chunk.in_use) return;
    ++bin.chunks_in_use;
    bin.bytes_in_use += chunk.bytes;
    bin.requested_bytes_in_use += chunk.requested_bytes;
  });
  return totals;
}

int Bfc::bin_number_of(ChunkIndex chunk) const {
  if (pool_[chunk].in_use || chunk == gap_) return -1;
  return static_cast<int>(bin_of(pool_[chunk].bytes));
}

std::vector<ChunkIndex> Bfc::free_chunks_of_bin(unsigned bin) const {
  std::vector<ChunkIndex> found;
  for_each_chunk([&](ChunkIndex index, const Chunk&) {
    if (bin_number_of(index) == static_cast<int>(bin)) found.push_back(index);
  });
  std::sort(found.begin(), found.end(), [&](ChunkIndex a, ChunkIndex b) {
    return pool_[a].bytes != pool_[b].bytes ? pool_[a].bytes < pool_[b].bytes : pool_[a].address < pool_[b].address;
  });
  return found;
}

}  // namespace hbmscope::allocator::xla_gpu
