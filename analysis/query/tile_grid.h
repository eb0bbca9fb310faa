// How an array lies in tiles, for pictures. The two minor-most dimensions are the rows and columns of a slice, cut into
// tiles; the last ones are padded. The other dimensions form a stack of such slices.
//
//   f32[129,1024]{1,0:T(8,128)}     129 x 1024 values in 17 x 8 tiles of 8 x 128: 136 rows, the last 7 are padding
//
// A sublane holds 32 bits: with a second tile (2,1), two rows of 16 bits share one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope {

struct TileGrid {
  std::string layout;
  std::uint64_t rows = 1, columns = 1;  // Values in one slice.
  std::uint64_t padded_rows = 1, padded_columns = 1;
  std::uint64_t tile_rows = 1, tile_columns = 1;  // 1 x 1: not tiled.
  std::uint64_t slices = 1, padded_slices = 1;    // Slices beyond `slices` are entirely padding.
  std::uint64_t tail_values = 0;                  // Padding after the last tile, L(n).
  std::uint64_t rows_a_sublane = 1;
  std::uint64_t bytes = 0, data_bytes = 0;

  bool is_tiled() const { return tile_rows * tile_columns > 1; }
  std::uint64_t padding_bytes() const { return bytes > data_bytes ? bytes - data_bytes : 0; }
  std::uint64_t tiles_down() const { return padded_rows / tile_rows; }
  std::uint64_t tiles_across() const { return padded_columns / tile_columns; }
};

// For a layout as XLA writes it. Nothing if the text is not an array with a layout, or the array is empty or has 2^63
// bytes or more.
std::optional<TileGrid> compute_tile_grid(std::string_view layout);

// The tiles that a picture shows: all, or if there are too many, the last ones, because they contain the padding.
struct TilePart {
  std::uint64_t first_row = 0, first_column = 0;  // In tiles.
  std::uint64_t down = 0, across = 0;

  bool is_all(const TileGrid& grid) const { return down == grid.tiles_down() && across == grid.tiles_across(); }
};
// At most that many tiles vertically and horizontally; both at least 1.
TilePart last_tiles(const TileGrid& grid, std::uint64_t down_most, std::uint64_t across_most);

// "17 x 8 tiles of 8 x 128 values, 2 rows in a sublane of 32 bits", "not tiled".
std::string text_from_tiles(const TileGrid& grid);
// Describes the part that a picture shows: "one of 12 slices, all alike; its last 8 x 4 tiles". Empty means all of it.
std::string text_from_part(const TileGrid& grid, const TilePart& part);
// "data 516 KiB (94.9 %), padding 28.0 KiB (5.1 %)".
std::string text_from_padding(const TileGrid& grid);

// The picture in characters, at most 96 wide and about 24 lines high: # data, / padding, + some of both; with a legend
// for its scale.
std::string picture_from_tiles(const TileGrid& grid);

}  // namespace hbmscope
