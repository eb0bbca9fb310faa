// Fragmentation, defined once, for allocators, traces and their tables.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace hbmscope {

// A share of a whole; undefined where there is no whole. Both below 2^63, as no memory is larger: numbers with a sign
// become floating-point numbers in one instruction.
template <std::floating_point Real = double>
constexpr std::optional<Real> share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<Real>(static_cast<std::int64_t>(part)) / static_cast<Real>(static_cast<std::int64_t>(whole));
}

// External: of the free memory what is not in the largest free block, as XLA defines it. Undefined with nothing free.
template <std::floating_point Real = double>
constexpr std::optional<Real> external_fragmentation_of(std::uint64_t free_bytes, std::uint64_t largest_free_bytes) {
  return share_of<Real>(free_bytes - largest_free_bytes, free_bytes);
}

// Internal: of the memory in use what nobody requested. Undefined with nothing in use.
template <std::floating_point Real = double>
constexpr std::optional<Real> internal_fragmentation_of(std::uint64_t in_use_bytes, std::uint64_t requested_bytes) {
  return share_of<Real>(in_use_bytes - requested_bytes, in_use_bytes);
}

}  // namespace hbmscope
