// Rounding for both kinds of segments.
#pragma once

#include <cstdint>

namespace hbmscope::allocator::pytorch {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;

inline std::uint64_t round_down(std::uint64_t bytes, std::uint64_t step) {
  return bytes / step * step;
}

inline std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) {
  return round_down(bytes + step - 1, step);
}

}  // namespace hbmscope::allocator::pytorch
