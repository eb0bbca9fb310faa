// Sizes and rounding for both kinds of segments.
#pragma once

#include <cstdint>

namespace hbmscope::allocator::pytorch {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;
inline constexpr std::uint64_t block_step = 512;
inline constexpr std::uint64_t small_max = mib;           // Requests up to this size are served from the small pool.
inline constexpr std::uint64_t small_segment = 2 * mib;   // Segment size of the small pool.
inline constexpr std::uint64_t large_segment = 20 * mib;  // Segment size of the large pool, for requests
inline constexpr std::uint64_t large_request = 10 * mib;  // below this size; larger requests get their own segment,
inline constexpr std::uint64_t segment_step = 2 * mib;    // rounded up to a multiple of this.

inline std::uint64_t round_down(std::uint64_t bytes, std::uint64_t step) {
  return bytes / step * step;
}

inline std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) {
  return round_down(bytes + step - 1, step);
}

}  // namespace hbmscope::allocator::pytorch
