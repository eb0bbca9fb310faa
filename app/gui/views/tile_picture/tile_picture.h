// The tiles of an array as pixels: what holds values in one colour, padding hatched, a line between tiles. One scale
// for all columns and one for all rows, so that areas are in proportion to values.
#pragma once

#include <vector>

#include "analysis/query/tile_grid.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

struct TilePicture {
  int width = 0, height = 0;
  std::vector<Pixel> pixels;                  // Row by row.
  TilePart part;                              // What of the grid they show.
  double values_across = 0, values_down = 0;  // In a pixel.
};

// `unit`: of a display, one pixel at 96 dpi. Padding is seen, at least a pixel of it, where there is any.
TilePicture draw_tile_picture(const TileGrid& grid, int width_most, int height_most, double unit, Theme theme);

// "1 px is 2 values across and 0.5 down".
std::string text_from_scale(const TilePicture& picture);

// What each of them has where there is data, and where there is padding: lines between tiles are of either.
struct TileInk {
  Pixel data, data_line, padding, padding_gap, padding_line;
};
TileInk tile_ink(Theme theme);

}  // namespace hbmscope::gui
