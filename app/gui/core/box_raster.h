// Boxes of addresses and time as a small picture: how much of each pixel is occupied, and by which shade most. A trace
// of ten million events has five million boxes, most of them far smaller than a pixel, so a box costs some additions:
// every row keeps, for each shade, where its coverage begins and ends, and sums up once.
//
// All in whole numbers, 256 steps a pixel in either direction, so that what is empty is exactly empty. A box that is
// narrower than a step takes one: nothing vanishes.
#pragma once

#include <cstdint>
#include <vector>

#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

struct BoxCell {
  std::uint8_t quarters = 0;  // Of the pixel, occupied, rounded; 0: nothing at all is in it.
  Shade shade = several_shade;
  bool has_memory = false;  // For half of the pixel at least there is memory: what is not occupied is free.

  friend bool operator==(const BoxCell&, const BoxCell&) = default;
};

class BoxRaster {
 public:
  BoxRaster(int width, int height);  // px, at most 16,384 each.

  // In px; what lies outside of the picture is cut off, what is empty or reversed is left out.
  struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;
  };
  void add_block(const Box& box, Shade shade) { add(box, shade); }
  void add_memory(const Box& box) { add(box, shade_count); }

  std::vector<BoxCell> cells() const;  // Row by row.

 private:
  void add(const Box& box, std::size_t layer);

  std::size_t width_, height_, stride_;
  std::vector<std::vector<std::int32_t>> layers_;  // By shade, memory last; empty until something is in it.
};

}  // namespace hbmscope::gui
