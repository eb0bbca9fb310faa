// The layout that XLA:TPU gives an argument, by generation, type and dimensions. An array of 50 x 1,000 values of 32
// bits is stored in tiles of 8 x 128. An array of 1,000 x 1 would take 128 times its size, so the compiler transposes
// it: {0,1:T(1,128)}.
//
// The rule was derived from the layouts that libtpu 0.0.51 assigns to parameters, on all generations from v2 to tpu7x:
// - Two dimensions become the minor ones: those that give the fewest bytes; of equals, the last ones (the minor-most
//   decides before the second-minor). The others stay in order, with the first dimension major-most.
// - A tile has as many rows as the second-minor dimension, rounded up to a power of two, at most 8, and at least one
//   32-bit word in depth: 2 rows of 16 bits, 4 rows of 8 bits (twice that on v2 and v3).
// - Values of 8 and 4 bits have tiles of 32 and 64 rows if the dimension is a multiple of that.
// - Values of 2 bits always have tiles of 16 rows, but their dimensions are chosen as if the values had 8 bits.
// - One dimension: the tile is its size rounded up to a power of two, from 128 words to 1,024 values.
#pragma once

#include <optional>
#include <span>

#include "allocator/emulated/tpu/generation.h"
#include "allocator/emulated/tpu/shape.h"

namespace hbmscope::allocator::tpu {

enum class SecondMinor : std::uint8_t {
  as_compiled,  // The rule above.
  compact,      // At most 8 rows (16 of 2 bits).
  large,        // Up to 8 words of rows: bf16 16, s8 32; intermediates of tpu7x, or --xla_tpu_enable_large_2nd_minor...
};

// The dimensions are in the given order, the last one minor-most. All generations from v4 on are alike.
Layout default_tiles(const Generation& generation, const ElementType& type, std::span<const Dimension> dimensions,
                     std::vector<std::uint32_t> minor_to_major, SecondMinor second_minor);

Shape default_shape(const Generation& generation, const ElementType& type, std::vector<Dimension> dimensions,
                    SecondMinor second_minor = SecondMinor::as_compiled);

// The same array in the order of dimensions that takes the fewest bytes, where each order gets the tiles that the
// compiler gives it; of equals, the compiler's choice. Returns `shape` if no order takes less, or if it has no tiles.
Shape least_padded_shape(const Generation& generation, const Shape& shape,
                         SecondMinor second_minor = SecondMinor::as_compiled);

}  // namespace hbmscope::allocator::tpu
