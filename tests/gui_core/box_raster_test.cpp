#include "app/gui/core/box_raster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace hbmscope::gui {
namespace {

TEST(BoxRaster, an_empty_picture_is_empty_and_has_no_memory) {
  for (const BoxCell& cell : BoxRaster(7, 5).cells()) EXPECT_EQ(BoxCell{}, cell);
}

TEST(BoxRaster, whole_pixels_are_full_and_their_neighbours_empty) {
  BoxRaster raster(8, 6);
  raster.add_memory({0, 0, 8, 6});
  raster.add_block({2, 1, 5, 4}, 3);
  const auto cells = raster.cells();
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 8; ++x) {
      const BoxCell& cell = cells[static_cast<std::size_t>(y * 8 + x)];
      const bool inside = x >= 2 && x < 5 && y >= 1 && y < 4;
      EXPECT_EQ(inside ? 4 : 0, cell.quarters) << x << ' ' << y;
      EXPECT_EQ(inside ? 3 : several_shade, cell.shade);
      EXPECT_TRUE(cell.has_memory);
    }
}

TEST(BoxRaster, nothing_vanishes_and_nothing_is_outside) {
  BoxRaster raster(4, 4);
  raster.add_block({1.7, 2.2, 1.7000001, 2.2000001}, 5);
  raster.add_block({-3, -3, -1, 9}, 1);
  raster.add_block({4, 0, 9, 4}, 1);
  raster.add_block({2, 2, 2, 3}, 1);
  raster.add_block({3, 2, 1, 3}, 1);
  const auto cells = raster.cells();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(i == 9 ? 1 : 0, cells[i].quarters) << i;
    EXPECT_EQ(i == 9 ? 5 : several_shade, cells[i].shade);
  }
}

// Compared with areas computed one pixel at a time; like blocks, the boxes do not overlap.
TEST(BoxRaster, shares_are_the_areas) {
  constexpr int width = 23, height = 17;
  std::mt19937_64 random(11);
  for (int round = 0; round < 40; ++round) {
    BoxRaster raster(width, height);
    std::array<std::array<std::array<double, shade_count>, width>, height> areas{};
    for (int band = 0; band < 30; ++band) {
      // Bands of addresses one above the other, with blocks one after the other in them.
      const double top = static_cast<double>(band * height) / 30,
                   bottom = static_cast<double>((band + 1) * height) / 30;
      double left = -1;
      while (left < width) {
        const double right = left + static_cast<double>(random() % 2000) / 256;
        const auto shade = static_cast<Shade>(random() % shade_count);
        if (random() % 3 != 0) {
          raster.add_block({left, top, right, bottom}, shade);
          for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
              areas[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)][shade] +=
                  std::max(0.0, std::min<double>(x + 1, right) - std::max<double>(x, left)) *
                  std::max(0.0, std::min<double>(y + 1, bottom) - std::max<double>(y, top));
        }
        left = right;
      }
    }
    const auto cells = raster.cells();
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        const auto& area = areas[y][x];
        double sum = 0;
        for (const double one : area) sum += one;
        const BoxCell& cell = cells[y * width + x];
        // A box is at most two steps larger than specified, in each direction.
        EXPECT_NEAR(sum * 4, cell.quarters, sum < 0.125 ? 1.0 : 0.6) << x << ' ' << y;
        if (sum > 0.05) {
          EXPECT_NEAR(*std::max_element(area.begin(), area.end()), area[cell.shade], 0.05);
        }
      }
  }
}

}  // namespace
}  // namespace hbmscope::gui
