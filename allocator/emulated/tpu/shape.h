// An array in XLA's notation, with its layout in memory:
//
//   bf16[4,512,512,64]{3,0,2,1:T(4,128)(2,1)S(1)}
//
// The parts are the element type, the dimensions, the dimension numbers from minor-most to major-most, and the rest of
// the layout. T: the tiles; the first tile covers the minor-most dimensions, with its last number for the minor-most
// one, and the others subdivide a tile. L: the end is padded to a multiple of this many elements. E: the bits of an
// element, if not those of the type. S: the memory space (0, HBM, is omitted). Source: xla/layout.cc, xla/shape_util.cc
// and docs/tiled_layout.md of openxla.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/emulated/tpu/element_type.h"

namespace hbmscope::allocator::tpu {

struct Dimension {
  std::uint64_t size = 0;
  bool is_bound = false;  // "<=8": the upper bound of a dynamic dimension, for which memory is laid out.

  bool operator==(const Dimension&) const = default;
};

// One tile, major-most first. `merged`, "*": this dimension is combined with the next more minor one.
using Tile = std::vector<std::uint64_t>;
constexpr std::uint64_t merged = 0;

struct Layout {
  std::vector<std::uint32_t> minor_to_major;
  std::vector<Tile> tiles;           // Only the first one determines the padding.
  std::uint64_t tail_alignment = 1;  // In elements.
  std::uint32_t element_bits = 0;    // 0: those of the type, in whole bytes.
  std::uint32_t memory_space = 0;    // 0 HBM, 1 VMEM, 2 sync flags, 3 CMEM, 5 host.
  std::string level_types, rest;     // As in the text: "D(D,C)", and what follows S.

  bool operator==(const Layout&) const = default;
};

struct Shape {
  const ElementType* type = nullptr;  // Never null in a shape that was parsed.
  std::vector<Dimension> dimensions;
  std::optional<Layout> layout;  // No value: the text has no braces.

  bool operator==(const Shape&) const = default;
};

// What is wrong with a text, and at which byte.
struct TextFault {
  std::string what;  // A sentence without a full stop.
  std::size_t offset = 0;
};

// The whole text must be one array. Anything else is an error, including a tuple.
tl::expected<Shape, TextFault> parse_shape(std::string_view text);
// "100x200", or "scalar".
tl::expected<std::vector<Dimension>, TextFault> parse_dimensions(std::string_view text);
// As XLA prints it. A parsed text is reproduced exactly.
std::string text_from_shape(const Shape& shape);

// Bytes in memory with padding, exactly as XLA's ShapeUtil::ArraySize; no value if 2^63 or more.
std::optional<std::uint64_t> compute_padded_bytes(const Shape& shape);
// Without padding. Packed elements of less than a byte count their exact bits in total. No value if 2^63 or more.
std::optional<std::uint64_t> compute_unpadded_bytes(const Shape& shape);

}  // namespace hbmscope::allocator::tpu
