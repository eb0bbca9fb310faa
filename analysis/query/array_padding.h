// The cost of padding for an array on a TPU, and for many: in the given layout, and in the order of dimensions that
// takes the least memory. Emulated: bytes as XLA counts them, tiles as the compiler chooses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/default_layout.h"

namespace hbmscope {

struct ArrayPadding {
  allocator::tpu::Shape shape;
  std::uint64_t bytes = 0, unpadded_bytes = 0;
  allocator::tpu::Shape least;  // `shape` if no order takes less.
  std::uint64_t least_bytes = 0;

  // Padding is counted in stored bytes. A layout with E(32) stores more than the values of an 8-bit type, and one with
  // E(4) less.
  std::uint64_t padding_bytes() const { return bytes > unpadded_bytes ? bytes - unpadded_bytes : 0; }
  std::uint64_t saved_bytes() const { return bytes - least_bytes; }
};
// Nothing if the array has 2^63 bytes or more.
std::optional<ArrayPadding> compute_array_padding(allocator::tpu::Shape shape,
                                                  const allocator::tpu::Generation& generation,
                                                  allocator::tpu::SecondMinor second_minor);

struct NamedPadding {
  std::string name;
  ArrayPadding padding;
};
// The most wasteful first; stable.
void sort_by_waste(std::vector<NamedPadding>& arrays);

// Sums over many arrays; they stop at 2^64 - 1.
struct PaddingTotals {
  std::uint64_t arrays = 0, bytes = 0, unpadded_bytes = 0, padding_bytes = 0, least_bytes = 0;

  void add(const ArrayPadding& padding);
};

}  // namespace hbmscope
