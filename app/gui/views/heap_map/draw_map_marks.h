// Draws over the pixels of a heap map: offsets on the left, names in wide blocks, a flag at the largest free block,
// outlines of the selected and the hovered block. A few hundred shapes, however large the heap is.
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
  const HeapSpans& spans;
  const HeapMapView& view;
  ImVec2 origin;                        // The upper left corner of the picture on the screen.
  const BlockLabels* labels = nullptr;  // Of the heap's stream; null: unknown.

  void offsets(float left, float width) const;
  void ruler() const;  // Offsets below a strip.
  void names(const HeapMapAnswer& answer) const;
  // For a heap with two ends: labels for the upper and the lower end in the gutter, which begins at `left`.
  void ends(float left) const;
  void largest_free() const;  // With two ends, one flag for each.
  void flag(const HeapSpan& span, const std::string& words) const;
  void select(const HeapSpan& span) const;
  // Ticks in the left gutter: rows with hits and the row of the selection.
  void ticks(const std::vector<bool>& hit_rows, const HeapSpan* selected) const;
  // An outline across all its rows, at least 3 px wide.
  void outline(const HeapSpan& span, Role role, float thickness, float inset = 0) const;

 private:
  struct EndLabel {
    float y = 0;
    const char* words = "";
  };
  std::vector<EndLabel> end_labels() const;
};

// The largest block in a pixel, and how many blocks there are; nullptr in a notch or beyond the ends.
const HeapSpan* span_in_cell(const HeapSpans& spans, const HeapLine& line, std::int64_t px, std::size_t& count);

// The addresses of a pixel; nothing in a notch or beyond the ends.
std::optional<AddressRange> cell_range(const HeapSpans& spans, const HeapLine& line, std::int64_t px);

}  // namespace hbmscope::gui
