// The definitions of fragmentation for allocators, traces and their tables.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace hbmscope {

// The fraction part / whole; no value if `whole` is 0. Both must be below 2^63, which no memory exceeds: signed numbers
// convert to floating point in one instruction.
template <std::floating_point Real = double>
constexpr std::optional<Real> share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<Real>(static_cast<std::int64_t>(part)) / static_cast<Real>(static_cast<std::int64_t>(whole));
}

// External: the fraction of free memory outside the largest free block, as XLA defines it. No value if nothing is free.
template <std::floating_point Real = double>
constexpr std::optional<Real> external_fragmentation_of(std::uint64_t free_bytes, std::uint64_t largest_free_bytes) {
  return share_of<Real>(free_bytes - largest_free_bytes, free_bytes);
}

// Internal: the fraction of memory in use that was not requested. No value if nothing is in use.
template <std::floating_point Real = double>
constexpr std::optional<Real> internal_fragmentation_of(std::uint64_t in_use_bytes, std::uint64_t requested_bytes) {
  return share_of<Real>(in_use_bytes - requested_bytes, in_use_bytes);
}

}  // namespace hbmscope
