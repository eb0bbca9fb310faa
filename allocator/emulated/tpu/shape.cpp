#include "allocator/emulated/tpu/shape.h"

#include <fmt/format.h>

namespace hbmscope::allocator::tpu {
namespace {

using Wide = unsigned __int128;
constexpr Wide bytes_end = Wide{1} << 63;

// Saturates: a value larger than any memory stays so.
Wide product(Wide a, Wide b) {
  constexpr Wide most = Wide{1} << 120;
  return b != 0 && a > most / b ? most : a * b;
}

Wide rounded_up(Wide value, Wide multiple) {
  return product((value + multiple - 1) / multiple, multiple);
}

std::optional<std::uint64_t> bytes_of(Wide elements, const Shape& shape) {
  const bool is_packed = shape.layout && shape.layout->element_bits != 0;
  const Wide bytes =
      is_packed ? (product(elements, shape.layout->element_bits) + 7) / 8 : product(elements, shape.type->bytes());
  if (bytes >= bytes_end) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

Wide unpadded_elements(const Shape& shape) {
  Wide elements = 1;
  for (const Dimension& dimension : shape.dimensions) elements = product(elements, dimension.size);
  return elements;
}

// Physical dimensions, minor-most first, after merging those that the first tile combines, and the tile without "*".
Wide padded_elements(const Shape& shape, const Layout& layout) {
  std::vector<Wide> sizes;
  for (const std::uint32_t number : layout.minor_to_major) sizes.push_back(shape.dimensions[number].size);
  const Tile& tile = layout.tiles.front();
  Wide elements = 1;
  std::size_t dimension = 0;
  for (std::size_t i = tile.size(); i-- > 0;) {
    const Wide multiple = tile[i];
    Wide size = dimension < sizes.size() ? sizes[dimension] : 1;
    ++dimension;
    for (; i > 0 && tile[i - 1] == merged; --i, ++dimension)
      if (dimension < sizes.size()) size = product(size, sizes[dimension]);
    elements = product(elements, rounded_up(size, multiple));
  }
  for (; dimension < sizes.size(); ++dimension) elements = product(elements, sizes[dimension]);
  return elements;
}

std::string text_from_tile(const Tile& tile) {
  std::string text = "(";
  for (const std::uint64_t size : tile) {
    if (text.size() > 1) text += ',';
    text += size == merged ? "*" : fmt::format("{}", size);
  }
  return text + ")";
}

std::string text_from_layout(const Layout& layout) {
  std::string properties = layout.level_types;
  if (!layout.tiles.empty()) properties += 'T';
  for (const Tile& tile : layout.tiles) properties += text_from_tile(tile);
  if (layout.tail_alignment != 1) properties += fmt::format("L({})", layout.tail_alignment);
  if (layout.element_bits != 0) properties += fmt::format("E({})", layout.element_bits);
  if (layout.memory_space != 0) properties += fmt::format("S({})", layout.memory_space);
  properties += layout.rest;
  return fmt::format("{{{}{}{}}}", fmt::join(layout.minor_to_major, ","), properties.empty() ? "" : ":", properties);
}

}  // namespace

std::string text_from_shape(const Shape& shape) {
  std::string text = fmt::format("{}[", shape.type->name);
  for (std::size_t i = 0; i < shape.dimensions.size(); ++i)
    text +=
        fmt::format("{}{}{}", i == 0 ? "" : ",", shape.dimensions[i].is_bound ? "<=" : "", shape.dimensions[i].size);
  return text + "]" + (shape.layout ? text_from_layout(*shape.layout) : "");
}

std::optional<std::uint64_t> compute_padded_bytes(const Shape& shape) {
  if (!shape.layout || shape.layout->tiles.empty()) {
    Wide elements = unpadded_elements(shape);
    if (shape.layout && elements != 0) elements = rounded_up(elements, shape.layout->tail_alignment);
    return bytes_of(elements, shape);
  }
  return bytes_of(rounded_up(padded_elements(shape, *shape.layout), shape.layout->tail_alignment), shape);
}

std::optional<std::uint64_t> compute_unpadded_bytes(const Shape& shape) {
  return bytes_of(unpadded_elements(shape), shape);
}

}  // namespace hbmscope::allocator::tpu
