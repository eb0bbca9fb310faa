#include "allocator/emulated/tpu/default_layout.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t lanes = 128;
constexpr std::uint64_t compact_rows_max = 8;

// How values are packed into 32-bit words.
struct Packing {
  std::uint64_t in_word;     // Values per word: 2 for bf16. Wider values span several words, which are tiled as words.
  std::uint64_t rows_least;  // Minimum rows of a tile.
  std::uint32_t element_bits;  // E(n), or 0 for whole bytes.
};

Packing packing_of(const Generation& generation, const ElementType& type) {
  const bool is_below_a_byte = type.bits < 8;
  const bool is_packed = is_below_a_byte && generation.packs_below_a_byte;
  const std::uint64_t stored_bits = is_packed ? type.bits : type.bytes() * 8;
  const std::uint64_t in_word = stored_bits >= 32 ? 1 : 32 / stored_bits;
  return {in_word, generation.rows_least * in_word, is_packed ? type.bits : 0};
}

// Tiles of 2-bit values are twice as deep as all others, packed or not.
std::uint64_t rows_max_of(const ElementType& type) {
  return type.bits <= 2 ? 2 * compact_rows_max : compact_rows_max;
}

std::uint64_t doubled_up_to(std::uint64_t from, std::uint64_t size, std::uint64_t most) {
  while (from < std::min(size, most)) from *= 2;
  return from;
}

std::uint64_t rows_of_tile(const Packing& packing, const ElementType& type, std::uint64_t rows, SecondMinor mode) {
  const std::uint64_t large = compact_rows_max * packing.in_word;
  if (mode == SecondMinor::large) return doubled_up_to(packing.rows_least, rows, large);
  if (type.bits <= 2) return rows_max_of(type);
  const bool is_whole = rows != 0 && rows % large == 0;
  const bool may_be_large = type.bits == 8 || packing.element_bits == 4;
  // v2 and v3, whose smallest tiles have twice the rows, never have large ones.
  if (mode == SecondMinor::as_compiled && may_be_large && is_whole && packing.rows_least == packing.in_word)
    return large;
  return doubled_up_to(packing.rows_least, rows, compact_rows_max);
}

std::vector<std::uint32_t> order_with(std::uint32_t minor, std::uint32_t second, std::size_t rank) {
  std::vector<std::uint32_t> order = {minor, second};
  for (std::uint32_t number = static_cast<std::uint32_t>(rank); number-- > 0;)
    if (number != minor && number != second) order.push_back(number);
  return order;
}

// The measure by which dimensions are chosen. Doubles: values beyond any memory need not be distinguished.
double tiled_elements(const Packing& packing, const ElementType& type, std::span<const Dimension> dimensions,
                      std::uint32_t minor, std::uint32_t second, SecondMinor mode) {
  const std::uint64_t rows = dimensions[second].size;
  const std::uint64_t tile_rows = type.bits <= 2 ? compact_rows_max : rows_of_tile(packing, type, rows, mode);
  const auto rounded_up = [](std::uint64_t size, std::uint64_t tile) {
    return static_cast<double>((size + tile - 1) / tile * tile);
  };
  double elements = rounded_up(dimensions[minor].size, lanes) * rounded_up(rows, tile_rows);
  for (std::uint32_t i = 0; i < dimensions.size(); ++i)
    if (i != minor && i != second) elements *= static_cast<double>(dimensions[i].size);
  return elements;
}

}  // namespace

Layout default_tiles(const Generation& generation, const ElementType& type, std::span<const Dimension> dimensions,
                     std::vector<std::uint32_t> minor_to_major, SecondMinor second_minor) {
  const Packing packing = packing_of(generation, type);
  Layout layout;
  layout.minor_to_major = std::move(minor_to_major);
  layout.element_bits = packing.element_bits;
  if (dimensions.size() < 2) {
    const std::uint64_t size = dimensions.empty() ? 1 : dimensions.front().size;
    layout.tiles.push_back({doubled_up_to(packing.rows_least * lanes, size, rows_max_of(type) * lanes)});
    if (dimensions.size() == 1 && packing.in_word > 1) layout.tiles.push_back({lanes});
  } else {
    const std::uint64_t rows = dimensions[layout.minor_to_major[1]].size;
    layout.tiles.push_back({rows_of_tile(packing, type, rows, second_minor), lanes});
  }
  if (!dimensions.empty() && packing.in_word > 1) layout.tiles.push_back({packing.in_word, 1});
  return layout;
}

Shape default_shape(const Generation& generation, const ElementType& type, std::vector<Dimension> dimensions,
                    SecondMinor second_minor) {
  const auto rank = static_cast<std::uint32_t>(dimensions.size());
  std::vector<std::uint32_t> order;
  if (rank == 1) order = {0};
  if (rank >= 2) {
    const Packing packing = packing_of(generation, type);
    std::uint32_t best_minor = rank - 1, best_second = rank - 2;
    double least = tiled_elements(packing, type, dimensions, best_minor, best_second, second_minor);
    for (std::uint32_t minor = rank; minor-- > 0;) {
      for (std::uint32_t second = rank; second-- > 0;) {
        if (minor == second) continue;
        const double elements = tiled_elements(packing, type, dimensions, minor, second, second_minor);
        if (elements >= least) continue;
        least = elements;
        best_minor = minor;
        best_second = second;
      }
    }
    order = order_with(best_minor, best_second, rank);
  }
  Shape shape;
  shape.type = &type;
  shape.layout = default_tiles(generation, type, dimensions, std::move(order), second_minor);
  shape.dimensions = std::move(dimensions);
  return shape;
}

Shape least_padded_shape(const Generation& generation, const Shape& shape, SecondMinor second_minor) {
  if (!shape.layout || shape.layout->tiles.empty()) return shape;
  Shape least = shape;
  std::optional<std::uint64_t> least_bytes = compute_padded_bytes(shape);
  const auto consider = [&](Layout layout) {
    Shape other{shape.type, shape.dimensions, std::move(layout)};
    other.layout->memory_space = shape.layout->memory_space;
    const auto bytes = compute_padded_bytes(other);
    if (!bytes || (least_bytes && *bytes >= *least_bytes)) return;
    least = std::move(other);
    least_bytes = bytes;
  };
  consider(*default_shape(generation, *shape.type, shape.dimensions, second_minor).layout);
  // Only the two minor dimensions are tiled; the order of the others adds no padding.
  const auto rank = static_cast<std::uint32_t>(shape.dimensions.size());
  for (std::uint32_t minor = rank; minor-- > 0;)
    for (std::uint32_t second = rank; second-- > 0;)
      if (minor != second)
        consider(
            default_tiles(generation, *shape.type, shape.dimensions, order_with(minor, second, rank), second_minor));
  return least;
}

}  // namespace hbmscope::allocator::tpu
