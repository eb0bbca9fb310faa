// Arrays in tiles: rows, columns and padding of a picture, against the bytes that the layout has.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "analysis/query/tile_grid.h"

namespace hbmscope {
namespace {

TileGrid grid_of(const char* layout) {
  const auto grid = compute_tile_grid(layout);
  EXPECT_TRUE(grid) << layout;
  return grid.value_or(TileGrid{});
}

TEST(TileGrid, the_last_tile_row_is_mostly_padding) {
  const TileGrid grid = grid_of("f32[129,1024]{1,0:T(8,128)}");
  EXPECT_EQ(129U, grid.rows);
  EXPECT_EQ(136U, grid.padded_rows);
  EXPECT_EQ(1024U, grid.padded_columns);
  EXPECT_EQ(17U, grid.tiles_down());
  EXPECT_EQ(8U, grid.tiles_across());
  EXPECT_EQ(28U << 10, grid.padding_bytes());
  EXPECT_EQ("129 x 1,024 values in 17 x 8 tiles of 8 x 128, the last ones with 1 of 8 rows", text_from_tiles(grid));
  EXPECT_EQ("data 516 KiB (94.9 %), padding 28.0 KiB (5.1 %)", text_from_padding(grid));
}

TEST(TileGrid, minor_to_major_decides_what_a_row_is) {
  const TileGrid grid = grid_of("f32[1000,1]{0,1:T(1,128)}");
  EXPECT_EQ(1U, grid.rows);
  EXPECT_EQ(1000U, grid.columns);
  EXPECT_EQ(1024U, grid.padded_columns);
}

TEST(TileGrid, rows_of_16_bits_share_a_sublane) {
  EXPECT_EQ(2U, grid_of("bf16[100,200]{1,0:T(8,128)(2,1)}").rows_a_sublane);
  EXPECT_EQ(4U, grid_of("s8[100,200]{1,0:T(8,128)(4,1)}").rows_a_sublane);
  EXPECT_EQ(
      "100 x 200 values in 13 x 2 tiles of 8 x 128, the last ones with 4 of 8 rows, the rightmost with 72 of 128 "
      "columns, 2 rows in a sublane of 32 bits",
      text_from_tiles(grid_of("bf16[100,200]{1,0:T(8,128)(2,1)}")));
}

// The drawn cells times the number of slices equal the size of the layout, for every kind of layout.
TEST(TileGrid, values_and_padding_add_up_to_the_bytes) {
  for (const char* layout :
       {"f32[129,1024]{1,0:T(8,128)}", "bf16[3,100,200]{2,1,0:T(8,128)(2,1)}", "s8[7,1,33]{2,0,1:T(8,128)(4,1)}",
        "f32[1000]{0:T(1024)}", "f32[]{:T(128)}", "f32[5,6,7]{2,1,0}", "bf16[4,512,512,64]{3,0,2,1:T(4,128)(2,1)S(1)}",
        "f32[100000000,3]{1,0:T(8)}", "f32[10,20,30]{2,1,0:T(*,128)}", "f32[9,9,9]{2,1,0:T(2,8,128)}",
        "f32[3,5]{1,0:T(2,4)L(128)}"}) {
    const TileGrid grid = grid_of(layout);
    const std::uint64_t padded = grid.padded_rows * grid.padded_columns * grid.padded_slices + grid.tail_values;
    const std::uint64_t values = grid.rows * grid.columns * grid.slices;
    EXPECT_EQ(grid.data_bytes * padded, grid.bytes * values) << layout;
    EXPECT_EQ(0U, grid.padded_rows % grid.tile_rows) << layout;
    EXPECT_EQ(0U, grid.padded_columns % grid.tile_columns) << layout;
  }
}

TEST(TileGrid, what_is_no_array_with_a_layout_has_no_picture) {
  for (const char* layout :
       {"", "f32[3]", "f32[0,3]{1,0:T(8,128)}", "(f32[3]{0})", "nonsense", "f32[9000000000000000000]{0:T(1024)}"})
    EXPECT_FALSE(compute_tile_grid(layout)) << layout;
}

TEST(TileGrid, too_many_tiles_are_the_last_ones_and_it_is_said) {
  const TileGrid grid = grid_of("f32[12,100000,1000]{2,1,0:T(8,128)}");
  const TilePart part = last_tiles(grid, 10, 4);
  EXPECT_EQ(10U, part.down);
  EXPECT_EQ(12490U, part.first_row);
  EXPECT_EQ("one of 12 slices, all alike; only the last 10 x 4 of 12,500 x 8 tiles", text_from_part(grid, part));
  EXPECT_EQ("",
            text_from_part(grid_of("f32[8,128]{1,0:T(8,128)}"), last_tiles(grid_of("f32[8,128]{1,0:T(8,128)}"), 1, 1)));
}

// For lines with values: "|####+///|".
std::int64_t count_cells(const std::string& text, char mark) {
  std::int64_t cells = 0;
  std::istringstream lines(text.substr(0, text.find("  #")));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(" |")) cells += std::count(line.begin(), line.end(), mark);
  return cells;
}

TEST(TileGrid, characters_have_the_share_of_the_padding) {
  // 4 rows of 8, 64 columns of 128: three quarters are padding.
  const std::string text = picture_from_tiles(grid_of("f32[4,64]{1,0:T(8,128)}"));
  EXPECT_EQ(16, count_cells(text, '#')) << text;
  EXPECT_EQ(48, count_cells(text, '/')) << text;
  EXPECT_EQ(0, count_cells(text, '+')) << text;
  EXPECT_NE(std::string::npos, text.find("a character is 1 x 16 values")) << text;
}

// 5 rows of 8, and of 128 columns 4 characters of 16 and 8 values of a fifth.
TEST(TileGrid, a_character_with_values_and_padding_says_so) {
  const std::string text = picture_from_tiles(grid_of("f32[5,72]{1,0:T(8,128)}"));
  EXPECT_EQ(5 * 4, count_cells(text, '#')) << text;
  EXPECT_EQ(5, count_cells(text, '+')) << text;
  EXPECT_EQ(5 * 3 + 3 * 8, count_cells(text, '/')) << text;
  EXPECT_NE(std::string::npos, text.find(" |####+///|\n")) << text;
}

}  // namespace
}  // namespace hbmscope
