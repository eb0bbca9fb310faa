// A heap map as pixels: one walk over the pieces that are visible, without a toolkit. A million pieces in 1080 lines
// are four pieces a pixel, so what a pixel with many of them shows is the heart of it:
//
//   one piece             its colour
//   two that go on        the one with more bytes in it
//   all else              a tiny bar: in use from the foot, then waste hatched, free on top, heights by bytes
//
// So only an empty stretch of full height means contiguous free memory, and dust looks like a skyline. Anything in use
// gets a pixel; free of 5 % or more gets a pixel. Colours are never mixed: the category with at least half of the bytes
// in use, else the neutral; of ordered colours the step of the median byte.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/gui/core/heap_line.h"
#include "app/gui/core/palette.h"

namespace hbmscope::gui {

// 0xAABBGGRR: the bytes in memory are red, green, blue, alpha.
using Pixel = std::uint32_t;
constexpr Pixel pixel_from_color(Color color) {
  return 0xFF000000U | static_cast<Pixel>(color.blue) << 16 | static_cast<Pixel>(color.green) << 8 | color.red;
}

Color color_of_shade(Theme theme, HeapColoring coloring, Shade shade);

// What one pixel of the line shows, from the foot of its row: `use`, then `waste` hatched, then free; all in px.
struct MapCell {
  enum class Fill : std::uint8_t { nothing, not_identified, pieces, free_inside };  // free_inside: no seam below it.
  Fill fill = Fill::nothing;
  std::uint8_t use = 0, waste = 0;
  std::uint8_t look = 0;  // Shade, and bits. Of a heap with two ends: a whole free cell that only one of them may use.

  static constexpr std::uint8_t shade_mask = 15, is_edge = 16, is_pending = 32, for_lower = 64, for_upper = 128;
};

class HeapRaster {
 public:
  // Pixels row by row, width x height of the view. The memory is used again by the next call. `hits`, by address: what
  // was found stands out of the rest by its contour, at least 3 px wide, and the rest is dimmed. Without contours it is
  // lit only: a colour of the legend.
  const std::vector<Pixel>& draw(const HeapPieces& map, const HeapMapView& view, Theme theme,
                                 std::span<const AddressRange> hits = {}, bool has_contours = true);
  // Of the last picture: rows in which a hit lies.
  const std::vector<bool>& hit_rows() const { return hit_rows_; }
  // Of the last picture; row by row, width x rows.
  const std::vector<MapCell>& cells() const { return cells_; }

 private:
  void draw_cells(const HeapPieces& map, const HeapMapView& view);
  void draw_pixels(const HeapPieces& map, const HeapMapView& view, Theme theme);
  // What a piece covers, in pixels from the picture's corner on.
  struct Span {
    std::int64_t begin = 0, end = 0;
  };
  void draw_gone(const HeapPieces& map, const HeapMapView& view, Theme theme);
  void draw_largest_free(const HeapPieces& map, const HeapMapView& view, Theme theme);
  void draw_hits(const HeapPieces& map, const HeapMapView& view, Theme theme, std::span<const AddressRange> hits,
                 bool has_contours);
  void draw_contour(const Span& span, const HeapMapView& view, int thick, Pixel ink);

  std::vector<MapCell> cells_;
  std::vector<Pixel> pixels_;
  std::vector<bool> hit_rows_;
};

}  // namespace hbmscope::gui
