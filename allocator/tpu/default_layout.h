// The layout that XLA:TPU gives an argument, by generation, type and dimensions. Fifty by one thousand values of 32
// bits lie in tiles of 8 x 128; one thousand by one would take 128 times what is asked, and the compiler transposes
// them: {0,1:T(1,128)}.
//
// The rule was read off what libtpu 0.0.51 assigns to parameters, on all generations from v2 to tpu7x:
// - Two dimensions become the minor ones: those that give the fewest bytes, of equals the last ones (the minor-most
//   decides before the second-minor). The others stay in order, first dimension major-most.
// - A tile has as many rows as the second-minor dimension, rounded up to a power of two, at most 8, and at least one
//   word of 32 bits in depth: 2 rows of 16 bits, 4 of 8 (twice that on v2 and v3).
// - Values of 8 and 4 bits have tiles of 32 and 64 rows where the dimension is a multiple of that.
// - Values of 2 bits always have tiles of 16 rows, but their dimensions are chosen as if they had 8.
// - One dimension: a tile of as many values as rounded up to a power of two, from 128 words to 1,024 values.
#pragma once

#include <optional>
#include <span>

#include "allocator/tpu/generation.h"
#include "allocator/tpu/shape.h"

namespace hbmscope::allocator::tpu {

enum class SecondMinor : std::uint8_t {
  as_compiled,  // The rule above.
  compact,      // At most 8 rows (16 of 2 bits).
  large,        // Up to 8 words of rows: bf16 16, s8 32; intermediates of tpu7x, or --xla_tpu_enable_large_2nd_minor...
};

// The dimensions in the order given, the last one minor-most. Generations from v4 on are alike.
Layout default_tiles(const Generation& generation, const ElementType& type, std::span<const Dimension> dimensions,
                     std::vector<std::uint32_t> minor_to_major, SecondMinor second_minor);

Shape default_shape(const Generation& generation, const ElementType& type, std::vector<Dimension> dimensions,
                    SecondMinor second_minor = SecondMinor::as_compiled);

// The same array in the order of dimensions that takes the fewest bytes, each order with the tiles that the compiler
// gives it; of equals the compiler's own choice. `shape` itself where none takes less, or where it has no tiles.
Shape least_padded_shape(const Generation& generation, const Shape& shape,
                         SecondMinor second_minor = SecondMinor::as_compiled);

}  // namespace hbmscope::allocator::tpu
