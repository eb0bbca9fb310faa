// The pixels of an array's tiles: the hatched share equals the share of the padding.
#include <gtest/gtest.h>

#include <cmath>

#include "app/gui/views/tile_picture/tile_picture.h"

namespace hbmscope::gui {
namespace {

struct Areas {
  std::int64_t data = 0, padding = 0, other = 0;
};

Areas areas_of(const TilePicture& picture, Theme theme) {
  const TileInk ink = tile_ink(theme);
  Areas areas;
  for (const Pixel pixel : picture.pixels) {
    if (pixel == ink.data || pixel == ink.data_line)
      ++areas.data;
    else if (pixel == ink.padding || pixel == ink.padding_gap || pixel == ink.padding_line)
      ++areas.padding;
    else
      ++areas.other;
  }
  return areas;
}

TEST(TilePicture, hatched_pixels_have_the_share_of_the_padding) {
  for (const char* layout :
       {"f32[129,1024]{1,0:T(8,128)}", "f32[4,64]{1,0:T(8,128)}", "f32[100,200]{1,0:T(8,128)}",
        "bf16[100,200]{1,0:T(8,128)(2,1)}", "f32[1000]{0:T(1024)}", "s8[33,129]{1,0:T(32,128)(4,1)}",
        "f32[7,130,5]{2,1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)}"})
    for (const Theme theme : {Theme::dark, Theme::light})
      for (const int width : {300, 640, 1203}) {
        const TileGrid grid = *compute_tile_grid(layout);
        const TilePicture picture = draw_tile_picture(grid, width, 311, 1, theme);
        ASSERT_TRUE(picture.part.is_all(grid)) << layout;
        EXPECT_LE(picture.width, width);
        const Areas areas = areas_of(picture, theme);
        EXPECT_EQ(0, areas.other);
        const double share = static_cast<double>(grid.padding_bytes()) / static_cast<double>(grid.bytes);
        const double all = static_cast<double>(areas.data + areas.padding);
        // Each edge is within half a pixel of its position.
        EXPECT_NEAR(static_cast<double>(areas.padding), share * all, (picture.width + picture.height) / 2.0 + 1)
            << layout << " in " << picture.width << " x " << picture.height;
      }
}

TEST(TilePicture, a_little_padding_of_many_tiles_is_still_seen) {
  const TileGrid grid = *compute_tile_grid("f32[8,4095]{1,0:T(8,128)}");
  const TilePicture picture = draw_tile_picture(grid, 300, 100, 1, Theme::dark);
  EXPECT_GT(areas_of(picture, Theme::dark).padding, 0);
}

TEST(TilePicture, of_too_many_tiles_the_last_ones_are_drawn_to_their_own_scale) {
  const TileGrid grid = *compute_tile_grid("f32[100001,100000]{1,0:T(8,128)}");
  const TilePicture picture = draw_tile_picture(grid, 300, 200, 1, Theme::dark);
  EXPECT_FALSE(picture.part.is_all(grid));
  EXPECT_EQ(grid.tiles_down(), picture.part.first_row + picture.part.down);
  EXPECT_NEAR(128.0 * static_cast<double>(picture.part.across), picture.values_across * picture.width, 0.01);
  // In the last row of tiles, 7 of 8 rows are padding, whatever is above it.
  const Areas areas = areas_of(picture, Theme::dark);
  EXPECT_GT(areas.padding, 0);
  EXPECT_GT(areas.data, areas.padding);
}

TEST(TilePicture, what_is_not_tiled_has_no_padding) {
  const TilePicture picture = draw_tile_picture(*compute_tile_grid("f32[500,600]{1,0}"), 300, 200, 2, Theme::light);
  const Areas areas = areas_of(picture, Theme::light);
  EXPECT_EQ(0, areas.padding);
  EXPECT_GT(areas.data, 0);
}

}  // namespace
}  // namespace hbmscope::gui
