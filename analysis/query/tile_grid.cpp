#include "analysis/query/tile_grid.h"

#include <algorithm>

#include <fmt/format.h>

#include "allocator/emulated/tpu/shape.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

namespace tpu = allocator::tpu;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t multiple) {
  return multiple == 0 ? value : (value + multiple - 1) / multiple * multiple;
}

// The sizes of the dimensions, minor-most first, as the first tile sees them: dimensions that the tile merges are one.
struct Sizes {
  std::vector<std::uint64_t> of_array, of_tile;
};

Sizes sizes_of(const tpu::Shape& shape) {
  Sizes sizes;
  const tpu::Layout& layout = *shape.layout;
  for (const std::uint32_t number : layout.minor_to_major) sizes.of_array.push_back(shape.dimensions[number].size);
  if (layout.tiles.empty()) return sizes;
  const tpu::Tile& tile = layout.tiles.front();
  std::vector<std::uint64_t> merged_sizes;
  std::size_t dimension = 0;
  const auto next = [&]() -> std::uint64_t {
    return dimension < sizes.of_array.size() ? sizes.of_array[dimension++] : 1;
  };
  for (std::size_t i = tile.size(); i-- > 0;) {
    sizes.of_tile.push_back(tile[i]);
    std::uint64_t size = next();
    for (; i > 0 && tile[i - 1] == tpu::merged; --i) size *= next();
    merged_sizes.push_back(size);
  }
  for (; dimension < sizes.of_array.size(); ++dimension) merged_sizes.push_back(sizes.of_array[dimension]);
  sizes.of_array = std::move(merged_sizes);
  return sizes;
}

// For the second tile (2,1): how many rows of values share one row of 32 bits.
std::uint64_t rows_a_sublane(const tpu::Layout& layout) {
  if (layout.tiles.size() < 2 || layout.tiles[1].size() != 2 || layout.tiles[1][1] != 1) return 1;
  return std::max<std::uint64_t>(layout.tiles[1][0], 1);
}

std::string times(std::uint64_t a, std::uint64_t b) {
  return fmt::format("{} x {}", text_from_count(a), text_from_count(b));
}

}  // namespace

std::optional<TileGrid> compute_tile_grid(std::string_view layout) {
  const auto shape = tpu::parse_shape(layout);
  if (!shape || !shape->layout) return std::nullopt;
  const auto bytes = tpu::compute_padded_bytes(*shape), data_bytes = tpu::compute_unpadded_bytes(*shape);
  if (!bytes || !data_bytes || *bytes == 0 || *data_bytes == 0) return std::nullopt;
  const Sizes sizes = sizes_of(*shape);
  const auto size_at = [&](std::size_t i) { return i < sizes.of_array.size() ? sizes.of_array[i] : 1; };
  const auto tile_at = [&](std::size_t i) { return i < sizes.of_tile.size() ? sizes.of_tile[i] : 1; };
  TileGrid grid;
  grid.layout = tpu::text_from_shape(*shape);
  grid.columns = size_at(0);
  grid.rows = size_at(1);
  grid.tile_columns = tile_at(0);
  grid.tile_rows = tile_at(1);
  grid.padded_columns = rounded_up(grid.columns, grid.tile_columns);
  grid.padded_rows = rounded_up(grid.rows, grid.tile_rows);
  for (std::size_t i = 2; i < std::max(sizes.of_array.size(), sizes.of_tile.size()); ++i) {
    grid.slices *= size_at(i);
    grid.padded_slices *= rounded_up(size_at(i), tile_at(i));
  }
  const std::uint64_t values = grid.padded_rows * grid.padded_columns * grid.padded_slices;
  grid.tail_values = rounded_up(values, shape->layout->tail_alignment) - values;
  grid.rows_a_sublane = rows_a_sublane(*shape->layout);
  grid.bytes = *bytes;
  grid.data_bytes = *data_bytes;
  return grid;
}

TilePart last_tiles(const TileGrid& grid, std::uint64_t down_most, std::uint64_t across_most) {
  TilePart part;
  part.down = std::min(grid.tiles_down(), std::max<std::uint64_t>(down_most, 1));
  part.across = std::min(grid.tiles_across(), std::max<std::uint64_t>(across_most, 1));
  part.first_row = grid.tiles_down() - part.down;
  part.first_column = grid.tiles_across() - part.across;
  return part;
}

std::string text_from_tiles(const TileGrid& grid) {
  if (!grid.is_tiled()) return times(grid.rows, grid.columns) + " values, not tiled";
  std::string text =
      fmt::format("{} values in {} tiles of {}", times(grid.rows, grid.columns),
                  times(grid.tiles_down(), grid.tiles_across()), times(grid.tile_rows, grid.tile_columns));
  if (const std::uint64_t rows = grid.rows % grid.tile_rows; rows > 0)
    text += fmt::format(", the last ones with {} of {} rows", rows, grid.tile_rows);
  if (const std::uint64_t columns = grid.columns % grid.tile_columns; columns > 0)
    text += fmt::format(", the rightmost with {} of {} columns", columns, grid.tile_columns);
  if (grid.rows_a_sublane > 1) text += fmt::format(", {} rows in a sublane of 32 bits", grid.rows_a_sublane);
  return text;
}

std::string text_from_part(const TileGrid& grid, const TilePart& part) {
  std::string text;
  if (grid.slices > 1) text = fmt::format("one of {} slices, all alike", text_from_count(grid.slices));
  if (grid.padded_slices > grid.slices)
    text += fmt::format("{}{} more slices are padding", text.empty() ? "" : ", ",
                        text_from_count(grid.padded_slices - grid.slices));
  if (!part.is_all(grid))
    text += fmt::format("{}only the last {} of {} {}", text.empty() ? "" : "; ", times(part.down, part.across),
                        times(grid.tiles_down(), grid.tiles_across()), grid.is_tiled() ? "tiles" : "values");
  if (grid.tail_values > 0)
    text += fmt::format("{}{} values of padding at the end are not drawn", text.empty() ? "" : "; ",
                        text_from_count(grid.tail_values));
  return text;
}

std::string text_from_padding(const TileGrid& grid) {
  const std::int64_t all = signed_from(grid.bytes), padding = signed_from(grid.padding_bytes());
  return fmt::format("data {} ({}), padding {} ({})", text_from_bytes(all - padding),
                     text_from_share(all - padding, all), text_from_bytes(padding), text_from_share(padding, all));
}

std::string picture_from_tiles(const TileGrid& grid) {
  constexpr std::uint64_t lines_most = 24, width_most = 96, tile_width = 8;
  const std::uint64_t across_most = grid.is_tiled() ? width_most / (tile_width + 1) : width_most;
  const TilePart part = last_tiles(grid, lines_most, across_most);
  // A tile has at least one line; if there is room, more, each for the same number of rows.
  std::uint64_t lines = std::min(grid.tile_rows, std::max<std::uint64_t>(lines_most / part.down, 1));
  while (grid.tile_rows % lines != 0) --lines;
  std::uint64_t cells = std::min(grid.tile_columns, tile_width);
  while (grid.tile_columns % cells != 0) --cells;
  const std::uint64_t line_rows = grid.tile_rows / lines, cell_columns = grid.tile_columns / cells;
  std::string rule = " ", text;
  for (std::uint64_t i = 0; i < part.across; ++i) rule += "+" + std::string(cells, '-');
  rule += "+\n";
  if (grid.is_tiled()) text += rule;
  for (std::uint64_t line = 0; line < part.down * lines; ++line) {
    const std::uint64_t row = part.first_row * grid.tile_rows + line * line_rows;
    text += " ";
    for (std::uint64_t cell = 0; cell < part.across * cells; ++cell) {
      const std::uint64_t column = part.first_column * grid.tile_columns + cell * cell_columns;
      if (grid.is_tiled() && cell % cells == 0) text += '|';
      const bool has_data = row < grid.rows && column < grid.columns;
      const bool is_full = row + line_rows <= grid.rows && column + cell_columns <= grid.columns;
      text += is_full ? '#' : has_data ? '+' : '/';
    }
    text += grid.is_tiled() ? "|\n" : "\n";
    const bool is_last = line + 1 == part.down * lines;
    if (grid.is_tiled() && (is_last || (lines > 1 && (line + 1) % lines == 0))) text += rule;
  }
  text += fmt::format("  # data, / padding, + both; a character is {} values", times(line_rows, cell_columns));
  if (const std::string shown = text_from_part(grid, part); !shown.empty()) text += "; " + shown;
  return text + "\n";
}

}  // namespace hbmscope
