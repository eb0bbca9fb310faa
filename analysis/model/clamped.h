// Sums within one profile are exact (the reader keeps them below 2^63). Sums and differences of two profiles can
// overflow if at least one of them is nonsense. They then stop at the limit of the type instead of wrapping around.
#pragma once

#include <cstdint>
#include <limits>

namespace hbmscope {

constexpr std::int64_t clamped_difference(std::int64_t now, std::int64_t before) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(now, before, &result)) return result;
  return now < before ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

constexpr std::int64_t clamped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

constexpr std::uint64_t clamped_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

// For sorting by size. The minimum, which has no positive counterpart, becomes the maximum.
constexpr std::int64_t clamped_magnitude(std::int64_t value) {
  return value < 0 ? clamped_difference(0, value) : value;
}

}  // namespace hbmscope
