// What padding costs an array on a TPU, and many of them: as they lie, and in the order of dimensions that takes least.
// Emulated: bytes as XLA counts them, tiles as the compiler has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/tpu/default_layout.h"

namespace hbmscope {

struct ArrayPadding {
  allocator::tpu::Shape shape;
  std::uint64_t bytes = 0, unpadded_bytes = 0;
  allocator::tpu::Shape least;  // `shape` where no order takes less.
  std::uint64_t least_bytes = 0;

  // A layout with E(32) for a type of 8 bits takes more than its values, and one with E(4) less: what is padding is
  // in bytes, as the layout stores an element.
  std::uint64_t padding_bytes() const { return bytes > unpadded_bytes ? bytes - unpadded_bytes : 0; }
  std::uint64_t saved_bytes() const { return bytes - least_bytes; }
};
// Nothing: it has 2^63 bytes or more.
std::optional<ArrayPadding> compute_array_padding(allocator::tpu::Shape shape,
                                                  const allocator::tpu::Generation& generation,
                                                  allocator::tpu::SecondMinor second_minor);

struct NamedPadding {
  std::string name;
  ArrayPadding padding;
};
// Those that waste the most first, of equals in their order.
void sort_by_waste(std::vector<NamedPadding>& arrays);

// Of many arrays. A sum beyond 2^64 stays at its end.
struct PaddingTotals {
  std::uint64_t arrays = 0, bytes = 0, unpadded_bytes = 0, padding_bytes = 0, least_bytes = 0;

  void add(const ArrayPadding& padding);
};

}  // namespace hbmscope
