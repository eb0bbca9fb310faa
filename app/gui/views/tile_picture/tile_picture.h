// The tiles of an array as pixels: values in one colour, padding hatched, a line between tiles. One scale for all
// columns and one for all rows, so that areas are proportional to values.
#pragma once

#include <vector>

#include "analysis/query/tile_grid.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

struct TilePicture {
  int width = 0, height = 0;
  std::vector<Pixel> pixels;                  // Row by row.
  TilePart part;                              // The part of the grid that they show.
  double values_across = 0, values_down = 0;  // In a pixel.
};

// `unit`: one pixel at 96 dpi. Padding, where there is any, takes at least a pixel.
TilePicture draw_tile_picture(const TileGrid& grid, int width_most, int height_most, double unit, Theme theme);

// "1 px is 2 values across and 0.5 down".
std::string text_from_scale(const TilePicture& picture);

// The colours of data and padding, and of the lines between tiles over each of them.
struct TileInk {
  Pixel data, data_line, padding, padding_gap, padding_line;
};
TileInk tile_ink(Theme theme);

}  // namespace hbmscope::gui
