// An array as XLA writes it, with the layout that it has in memory:
//
//   bf16[4,512,512,64]{3,0,2,1:T(4,128)(2,1)S(1)}
//
// an element type, the dimensions, the dimensions' numbers from the minor-most to the major-most, then what more there
// is to say of the layout: T the tiles, the first over the minor-most dimensions with its last number the minor-most
// one, the others within a tile; L the multiple of elements that the end is padded to; E the bits of an element where
// they aren't the type's; S the memory space (0, HBM, is left out). Source: xla/layout.cc, xla/shape_util.cc and
// docs/tiled_layout.md of openxla.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "allocator/tpu/element_type.h"

namespace hbmscope::allocator::tpu {

struct Dimension {
  std::uint64_t size = 0;
  bool is_bound = false;  // "<=8": of a dynamic dimension, the most that it can be; memory is laid out for that.

  bool operator==(const Dimension&) const = default;
};

// Of one tile, major-most first. `merged`, "*": this dimension is one with the next more minor one.
using Tile = std::vector<std::uint64_t>;
constexpr std::uint64_t merged = 0;

struct Layout {
  std::vector<std::uint32_t> minor_to_major;
  std::vector<Tile> tiles;           // The first alone decides how much is padded.
  std::uint64_t tail_alignment = 1;  // In elements.
  std::uint32_t element_bits = 0;    // 0: those of the type, in whole bytes.
  std::uint32_t memory_space = 0;    // 0 HBM, 1 VMEM, 2 sync flags, 3 CMEM, 5 host.
  std::string level_types, rest;     // As they stand there: "D(D,C)", and what follows S.

  bool operator==(const Layout&) const = default;
};

struct Shape {
  const ElementType* type = nullptr;  // Never null in a shape that was parsed.
  std::vector<Dimension> dimensions;
  std::optional<Layout> layout;  // None: the text has no braces.

  bool operator==(const Shape&) const = default;
};

// What is wrong with a text, and the byte of it where that begins.
struct TextFault {
  std::string what;  // A sentence without a full stop.
  std::size_t offset = 0;
};

// The whole text is one array. Faults: anything else, a tuple too.
tl::expected<Shape, TextFault> parse_shape(std::string_view text);
// "100x200", or "scalar".
tl::expected<std::vector<Dimension>, TextFault> parse_dimensions(std::string_view text);
// As XLA prints it: what was parsed gives the same text back.
std::string text_from_shape(const Shape& shape);

// Bytes in memory, padding included, exactly as XLA's ShapeUtil::ArraySize; nothing where it is 2^63 or more.
std::optional<std::uint64_t> compute_padded_bytes(const Shape& shape);
// Without padding; of elements below a byte that are packed, their bits together. Nothing as above.
std::optional<std::uint64_t> compute_unpadded_bytes(const Shape& shape);

}  // namespace hbmscope::allocator::tpu
