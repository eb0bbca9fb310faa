// The tiles of an array as pixels: values in one colour, padding hatched, lines between tiles. All columns have one
// scale and all rows have one scale, so that areas are proportional to the number of values.
#pragma once

#include <vector>

#include "analysis/query/tile_grid.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

struct TilePicture {
  int width = 0, height = 0;
  std::vector<Pixel> pixels;                  // Row by row.
  TilePart part;                              // The visible part of the grid.
  double values_across = 0, values_down = 0;  // Values per pixel.
};

// `unit`: the size of one pixel at 96 dpi. If there is padding, it takes at least one pixel.
TilePicture draw_tile_picture(const TileGrid& grid, int width_most, int height_most, double unit, Theme theme);

// "1 px is 2 values across and 0.5 down".
std::string text_from_scale(const TilePicture& picture);

// The colours of data and padding, and of the lines between tiles over each.
struct TileInk {
  Pixel data, data_line, padding, padding_gap, padding_line;
};
TileInk tile_ink(Theme theme);

}  // namespace hbmscope::gui
