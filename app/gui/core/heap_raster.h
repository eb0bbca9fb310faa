// Draws the heap map as pixels in one walk over the visible spans, without a GUI toolkit. A million spans in 1080
// rows are four spans per pixel, so the main question is what a pixel with many spans shows:
//
//   one span             its colour
//   two that continue     the one with more bytes in the pixel
//   anything else         a tiny bar: in use at the bottom, then waste (hatched), then free; heights by bytes
//
// So only an empty span of full height means contiguous free memory, and many tiny blocks look like a skyline. Anything
// in use gets a pixel, and so does free memory of 5 % or more. Colours are never mixed: a pixel has the category with
// at least half of the bytes in use, otherwise the neutral colour; on a scale, the step of the median byte.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/gui/core/heap_cells.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

// 0xAABBGGRR: in memory the bytes are red, green, blue, alpha.
using Pixel = std::uint32_t;
constexpr Pixel pixel_from_color(Color color) {
  return 0xFF000000U | static_cast<Pixel>(color.blue) << 16 | static_cast<Pixel>(color.green) << 8 | color.red;
}

Color color_of_shade(Theme theme, HeapColoring coloring, Shade shade);

struct Inks;

class HeapRaster {
 public:
  // Returns the pixels row by row, width x height of the view; the next call reuses the buffer. `hits` (by address) get
  // an outline at least 3 px wide, and the rest is dimmed; all of it if there are none and `looks_for`. Without
  // contours, hits are only highlighted, for an entry of the legend.
  const std::vector<Pixel>& draw(const HeapSpans& map, const HeapMapView& view, Theme theme,
                                 std::span<const AddressRange> hits = {}, bool has_contours = true,
                                 bool looks_for = false);
  // For the last picture: the rows that contain a hit.
  const std::vector<bool>& hit_rows() const { return hit_rows_; }
  // For the last picture: row by row, width x rows.
  const std::vector<MapCell>& cells() const { return cells_; }

 private:
  void draw_pixels(const Inks& inks, const HeapMapView& view, int first_row, int last_row);
  // The pixels that a span covers, relative to the picture's corner.
  struct Span {
    std::int64_t begin = 0, end = 0;
  };
  void draw_gone(const HeapSpans& map, const HeapMapView& view, Theme theme);
  void draw_largest_free(const HeapSpans& map, const HeapMapView& view, Theme theme);
  void draw_hits(const HeapSpans& map, const HeapMapView& view, Theme theme, std::span<const AddressRange> hits,
                 bool has_contours);
  void draw_contour(const Span& span, const HeapMapView& view, int thick, Pixel ink);

  std::vector<MapCell> cells_;
  std::vector<Pixel> pixels_;
  std::vector<bool> hit_rows_;
};

}  // namespace hbmscope::gui
