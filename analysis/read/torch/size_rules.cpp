#include "analysis/read/torch/size_rules.h"

#include <algorithm>

#include "analysis/heap/address_space.h"

namespace hbmscope::torch {
namespace {

constexpr std::uint64_t block_granularity = 512, small_request_max = std::uint64_t{1} << 20;

}  // namespace

std::uint64_t rounded_request(std::uint64_t bytes) {
  if (bytes > AddressSpace::bytes_max - block_granularity) return bytes;
  return std::max<std::uint64_t>(1, (bytes + block_granularity - 1) / block_granularity) * block_granularity;
}

bool would_split(std::uint64_t size, std::uint64_t remaining, bool is_expandable) {
  if (size <= small_request_max || is_expandable) return remaining >= block_granularity;
  return remaining > small_request_max;
}

std::uint64_t excess_bytes_max(std::uint64_t size, std::uint64_t free_above, bool is_expandable) {
  if (free_above == 0 || size <= small_request_max || is_expandable) return 0;
  if (free_above <= small_request_max) return free_above;
  // Free space in the pool of large blocks is more than 1 MiB.
  const std::uint64_t smallest_free = small_request_max + block_granularity;
  return std::min(small_request_max, free_above - std::min(free_above, smallest_free));
}

}  // namespace hbmscope::torch
