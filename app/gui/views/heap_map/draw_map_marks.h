// What lies over the pixels of a heap map: offsets at its left, names in wide blocks, the flag of the largest free
// block, the contours of what is selected and under the pointer. Some hundred lines and words, whatever the heap holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/gui/core/app_state.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct MapMarks {
  ImDrawList& draw;
  const Look& look;
  const HeapPieces& pieces;
  const HeapMapView& view;
  ImVec2 origin;  // The picture's upper left corner on the screen.

  void offsets(float left, float width) const;
  void names(const HeapMapAnswer& answer) const;
  // Of a heap with two ends: which one is at the top of the gutter, from `left` on, and which at its foot.
  void ends(float left) const;
  void largest_free() const;  // Of two ends, for each.
  void flag(const HeapPiece& piece, const std::string& words) const;
  void select(const HeapPiece& piece) const;
  // Rows with something found, and the row of what is selected: ticks in the gutter left of the picture.
  void ticks(const std::vector<bool>& hit_rows, const HeapPiece* selected) const;
  // Its contour over all rows, at least 3 px wide.
  void outline(const HeapPiece& piece, Role role, float thickness, float inset = 0) const;
};

// The largest piece that the pixel shows, and how many there are; nullptr in a notch and beyond the ends.
const HeapPiece* piece_in_cell(const HeapPieces& pieces, const HeapLine& line, std::int64_t px, std::size_t& count);

// The addresses of a pixel; nothing in a notch and beyond the ends.
std::optional<AddressRange> cell_range(const HeapPieces& pieces, const HeapLine& line, std::int64_t px);

}  // namespace hbmscope::gui
