// What each pixel of the heap map's line shows, before it has colours.
#pragma once

#include <cstdint>
#include <vector>

#include "app/gui/core/heap_line.h"

namespace hbmscope::gui {

// One pixel of the line, from the bottom of its row: `use`, then hatched `waste`, then free; all in px.
struct MapCell {
  enum class Fill : std::uint8_t { nothing, not_identified, spans, free_inside };  // free_inside: no seam below it.
  Fill fill = Fill::nothing;
  std::uint16_t use = 0, waste = 0;  // A strip is as high as the screen.
  std::uint8_t look = 0;  // Shade and flags. With two ends: a completely free cell that only one end may use.

  static constexpr std::uint8_t shade_mask = 15, is_edge = 16, is_pending = 32, for_lower = 64, for_upper = 128;
  friend bool operator==(const MapCell&, const MapCell&) = default;
};

// Writes the cells of rows [first_row, last_row) of the picture; `cells` has all of its rows. Rows can be drawn by
// several threads.
void draw_map_cells(std::vector<MapCell>& cells, const HeapSpans& map, const HeapLine& line, const HeapMapView& view,
                    int first_row, int last_row);

}  // namespace hbmscope::gui
