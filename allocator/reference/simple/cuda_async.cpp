#include "allocator/reference/simple/cuda_async.h"

namespace hbmscope::allocator::cuda_async {
namespace {

constexpr std::uint64_t block_step = 512;
constexpr std::uint64_t small_region_step = std::uint64_t{2} << 20;
constexpr std::uint64_t region_step = std::uint64_t{32} << 20;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

CudaAsync::~CudaAsync() {
  for (const auto& [number, claim] : regions_) upstream_.release(claim);
}

std::uint64_t CudaAsync::rounded_bytes(std::uint64_t bytes) const {
  return round_up(bytes, block_step);
}

bool CudaAsync::claim(std::uint64_t bytes) {
  const auto claim = upstream_.claim(bytes);
  if (!claim) {
    if (sink_) sink_->on_claim_refused(bytes);
    return false;
  }
  const std::uint32_t number = regions_claimed_++;
  regions_.emplace(number, *claim);
  if (sink_) sink_->on_region_claimed(number, *claim, bytes);
  statistics_.count_claimed(claim->bytes);
  map_.add(claim->base, {claim->bytes, 0, number, 0, ChunkMap::State::free});
  return true;
}

bool CudaAsync::grow(std::uint64_t bytes) {
  const std::uint64_t wanted = round_up(bytes, region_step), needed = round_up(bytes, small_region_step);
  const auto claim_either = [&] { return claim(wanted) || (needed < wanted && claim(needed)); };
  return claim_either() || (trim_to(0) && claim_either());
}

bool CudaAsync::trim_to(std::uint64_t pool_bytes) {
  bool has_released = false;
  for (auto region = regions_.begin(); region != regions_.end() && statistics_.pool_bytes > pool_bytes;) {
    const auto [number, claim] = *region;
    const ChunkMap::At first = map_.find(claim.base);
    if (first->second.state == ChunkMap::State::in_use || first->second.bytes < claim.bytes) {
      ++region;
      continue;
    }
    map_.remove(first);
    region = regions_.erase(region);
    statistics_.pool_bytes -= claim.bytes;
    upstream_.release(claim);
    if (sink_) sink_->on_region_released(number, claim);
    has_released = true;
  }
  return has_released;
}

ChunkMap::At CudaAsync::find_place(std::uint64_t bytes) {
  const ChunkMap::FreeChunks& free = map_.free_of(0);
  const auto found = free.lower_bound({bytes, 0});
  return found == free.end() ? map_.end() : map_.find(found->second);
}

Allocation CudaAsync::allocate(const Request& request) {
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (request.bytes > request_bytes_max) return {};
  if (!has_reserved_ && options_.reserved_bytes > 0) claim(round_up(options_.reserved_bytes, small_region_step));
  has_reserved_ = true;
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  ChunkMap::At found = find_place(bytes);
  if (found == map_.end() && grow(bytes)) found = find_place(bytes);
  if (found == map_.end()) return {};
  if (found->second.bytes > bytes) map_.split(found, bytes);
  map_.set_state(found, ChunkMap::State::in_use);
  found->second.requested_bytes = request.bytes;
  statistics_.count_taken(bytes);
  return {Outcome::allocated, Fault::none, false, found->second.region, found->first, bytes, ++allocation_ids_};
}

FreeOutcome CudaAsync::free(std::uint64_t address) {
  const ChunkMap::At found = map_.find(address);
  if (found == map_.end() || found->second.state != ChunkMap::State::in_use) return FreeOutcome::unknown_address;
  statistics_.in_use_bytes -= found->second.bytes;
  map_.set_state(found, ChunkMap::State::free);
  map_.join(found);
  trim_to(options_.release_threshold_bytes);
  return FreeOutcome::freed;
}

Statistics CudaAsync::statistics() const {
  Statistics statistics = statistics_;
  statistics.largest_free_bytes = largest_free_bytes();
  return statistics;
}

std::vector<Claim> CudaAsync::claims() const {
  std::vector<Claim> claims;
  for (const auto& [number, claim] : regions_) claims.push_back(claim);
  return claims;
}

}  // namespace hbmscope::allocator::cuda_async
