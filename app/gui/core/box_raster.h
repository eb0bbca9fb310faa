// Rasterizes boxes of addresses and time into a small picture: how much of each pixel is occupied, and the shade that
// covers most of it. A trace of ten million events has five million boxes, most of them far smaller than a pixel, so
// one box must cost only a few additions. Each row stores where the coverage of each shade begins and ends, and sums
// these up once at the end.
//
// All arithmetic is in integers with 256 steps per pixel in both directions, so that an empty pixel is exactly zero. A
// box narrower than one step is widened to one step, so that no box vanishes.
#pragma once

#include <cstdint>
#include <vector>

#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {

struct BoxCell {
  std::uint8_t quarters = 0;  // Occupied quarters of the pixel, rounded. 0 means that it is empty.
  Shade shade = several_shade;
  bool has_memory = false;  // At least half of the pixel is memory; the unoccupied part of it is free.

  friend bool operator==(const BoxCell&, const BoxCell&) = default;
};

class BoxRaster {
 public:
  BoxRaster(int width, int height);  // In px, at most 16,384 each.

  // In px. Parts outside the picture are clipped; empty and reversed boxes are ignored.
  struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;
  };
  void add_block(const Box& box, Shade shade) { add(box, shade); }
  void add_memory(const Box& box) { add(box, shade_count); }

  std::vector<BoxCell> cells() const;  // Row by row.

 private:
  void add(const Box& box, std::size_t layer);

  std::size_t width_, height_, stride_;
  std::vector<std::vector<std::int32_t>> layers_;  // Per shade, memory last; a layer is empty until it gets a box.
};

}  // namespace hbmscope::gui
