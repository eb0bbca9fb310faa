#include "allocator/reference/replay/state.h"

#include <algorithm>

namespace hbmscope::allocator {
namespace {

class Fnv1a {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) hash_ = (hash_ ^ (value >> byte * 8 & 0xff)) * 1099511628211U;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 1469598103934665603U;
};

}  // namespace

WalkedState compute_state(const xla_gpu::Bfc& allocator, bool with_rows) {
  WalkedState state;
  state.statistics = allocator.statistics();
  std::vector<xla_gpu::Region> regions = allocator.regions();
  std::sort(regions.begin(), regions.end(),
            [](const xla_gpu::Region& a, const xla_gpu::Region& b) { return a.claim.base < b.claim.base; });
  Fnv1a hash;
  for (const xla_gpu::Region& region : regions) {
    for (xla_gpu::ChunkIndex at = region.first; at != xla_gpu::no_chunk; at = allocator.chunk(at).next) {
      const xla_gpu::Chunk& chunk = allocator.chunk(at);
      const ChunkRow row = {region.number, chunk.address - region.claim.base, chunk.bytes, chunk.in_use};
      for (const std::uint64_t value : {std::uint64_t{row.region}, row.offset, row.bytes, std::uint64_t{row.in_use}})
        hash.add(value);
      ++state.chunks;
      if (!row.in_use) {
        ++state.free_chunks;
        state.free_bytes += row.bytes;
      }
      if (with_rows) state.rows.push_back(row);
    }
  }
  state.hash = hash.value();
  return state;
}

std::optional<std::uint64_t> find_number(const WalkedState& state, std::string_view name) {
  const Statistics& statistics = state.statistics;
  const struct {
    std::string_view name;
    std::uint64_t value;
  } numbers[] = {
      {"bytes_in_use", statistics.in_use_bytes},
      {"peak_bytes_in_use", statistics.peak_in_use_bytes},
      {"num_allocs", statistics.allocations},
      {"largest_alloc_size", statistics.largest_allocation_bytes},
      {"largest_free_block", statistics.largest_free_bytes},
      {"bytes_limit", statistics.limit_bytes},
      {"pool_bytes", statistics.pool_bytes},
      {"peak_pool_bytes", statistics.peak_pool_bytes},
      {"chunks", state.chunks},
      {"free_chunks", state.free_chunks},
      {"free_bytes", state.free_bytes},
      // BFC has these fields but never sets them.
      {"bytes_reserved", 0},
      {"peak_bytes_reserved", 0},
      {"bytes_reservable_limit", 0},
  };
  for (const auto& number : numbers)
    if (number.name == name) return number.value;
  return {};
}

}  // namespace hbmscope::allocator
