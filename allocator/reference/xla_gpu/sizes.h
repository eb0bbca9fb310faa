// The arithmetic of sizes in XLA's BFC allocator (xla/tsl/framework/bfc_allocator.{h,cc}).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hbmscope::allocator::xla_gpu {

inline constexpr std::uint64_t min_chunk_bytes = 256;
inline constexpr unsigned bin_count = 21;
inline constexpr std::uint64_t usual_internal_fragmentation_max = std::uint64_t{128} << 20;
inline constexpr std::uint64_t first_growth_bytes = std::uint64_t{2} << 20;

constexpr std::uint64_t rounded_bytes(std::uint64_t bytes) {
  return (bytes + min_chunk_bytes - 1) / min_chunk_bytes * min_chunk_bytes;
}

// Bin b holds chunks of at least 256 << b bytes; the last bin holds all from 256 MiB on.
constexpr unsigned bin_of(std::uint64_t bytes) {
  const std::uint64_t units = std::max(bytes, min_chunk_bytes) >> 8;
  return std::min(bin_count - 1, static_cast<unsigned>(std::bit_width(units)) - 1);
}
constexpr std::uint64_t bin_bytes(unsigned bin) {
  return min_chunk_bytes << bin;
}

// The next request to the driver after it refused `bytes`: nine tenths, in single precision as XLA computes it. With
// doubles, sizes differ from some GiB on. Up to 2,304 bytes the result is the same size again.
inline std::uint64_t backpedaled_bytes(std::uint64_t bytes) {
  // The product must be rounded to a float before it becomes a size, even if the machine computes with more digits.
  const volatile float product = static_cast<float>(bytes) * 0.9F;
  return rounded_bytes(static_cast<std::uint64_t>(product));
}

constexpr std::uint64_t align_up(std::uint64_t address, std::uint64_t alignment) {
  return (address + alignment - 1) & ~(alignment - 1);
}
constexpr std::uint64_t align_down(std::uint64_t address, std::uint64_t alignment) {
  return address & ~(alignment - 1);
}

}  // namespace hbmscope::allocator::xla_gpu
