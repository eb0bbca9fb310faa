#include "allocator/reference/simple/first_fit.h"

#include <bit>

namespace hbmscope::allocator::first_fit {
namespace {

constexpr std::uint64_t granularity = 256;

std::uint64_t padding_at(std::uint64_t address, std::uint64_t alignment) {
  return (alignment - address % alignment) % alignment;
}

}  // namespace

FirstFit::~FirstFit() {
  if (region_.bytes > 0) upstream_.release(region_);
}

std::uint64_t FirstFit::rounded_bytes(std::uint64_t bytes) const {
  return (bytes + granularity - 1) / granularity * granularity;
}

bool FirstFit::claim() {
  const auto claim = upstream_.claim(statistics_.limit_bytes);
  if (!claim) {
    if (sink_) sink_->on_claim_refused(statistics_.limit_bytes);
    return false;
  }
  region_ = *claim;
  if (sink_) sink_->on_region_claimed(0, region_, statistics_.limit_bytes);
  statistics_.count_claimed(region_.bytes);
  map_.add(region_.base, {region_.bytes, 0, 0, 0, ChunkMap::State::free});
  return true;
}

// The lowest free chunk that holds the block, aligned.
ChunkMap::At FirstFit::find_place(std::uint64_t bytes, std::uint64_t alignment) {
  for (const auto& [address, chunk] : map_.chunks()) {
    const std::uint64_t padding = padding_at(address, alignment);
    if (chunk.state != ChunkMap::State::free || chunk.bytes < padding || chunk.bytes - padding < bytes) continue;
    const ChunkMap::At found = map_.find(address);
    return padding == 0 ? found : map_.split(found, padding);
  }
  return map_.end();
}

Allocation FirstFit::allocate(const Request& request) {
  if (request.bytes == 0) return {Outcome::zero_bytes, Fault::none, false, 0, 0, 0, 0};
  if (request.bytes > request_bytes_max || !std::has_single_bit(request.alignment)) return {};
  if (region_.bytes == 0 && !claim()) return {};
  const std::uint64_t bytes = rounded_bytes(request.bytes);
  const ChunkMap::At found = find_place(bytes, std::max(request.alignment, granularity));
  if (found == map_.end()) return {};
  if (found->second.bytes > bytes) map_.split(found, bytes);
  map_.set_state(found, ChunkMap::State::in_use);
  found->second.requested_bytes = request.bytes;
  statistics_.count_taken(bytes);
  return {Outcome::allocated, Fault::none, false, 0, found->first, bytes, ++allocation_ids_};
}

FreeOutcome FirstFit::free(std::uint64_t address) {
  const ChunkMap::At found = map_.find(address);
  if (found == map_.end() || found->second.state != ChunkMap::State::in_use) return FreeOutcome::unknown_address;
  statistics_.in_use_bytes -= found->second.bytes;
  map_.set_state(found, ChunkMap::State::free);
  map_.join(found);
  return FreeOutcome::freed;
}

Statistics FirstFit::statistics() const {
  Statistics statistics = statistics_;
  statistics.largest_free_bytes = largest_free_bytes();
  return statistics;
}

std::vector<Claim> FirstFit::claims() const {
  if (region_.bytes == 0) return {};
  return {region_};
}

}  // namespace hbmscope::allocator::first_fit
