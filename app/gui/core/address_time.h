// A heap's addresses over a stretch of time, as a picture: every block is a box from its allocation to its free, every
// region is memory from when it was taken to when it was given back. Two passes over the stretch: which memory and
// whose code there is, then the boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace/pass_from.h"
#include "app/gui/core/address_axis.h"
#include "app/gui/core/box_raster.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

struct AddressTimeQuery {
  HeapKey heap;
  TimelineSpan span;  // Empty: all of it.
  int width = 0, height = 0;
  HeapColoring coloring = HeapColoring::own_code;  // Else by size; what changes with the moment is no colour of a box.

  friend bool operator==(const AddressTimeQuery&, const AddressTimeQuery&) = default;
};

struct AddressTime {
  AddressTimeQuery query;
  bool has_times = false;          // Else the axis counts events.
  std::int64_t first_time_ns = 0;  // Where the axis begins on the stream's clock.
  bool knows_regions = false;
  AddressAxis axis;    // All memory that was there at any time of the stretch; where regions are not told, near blocks.
  ColorKeeper colors;  // Of lines of code, with those that got theirs here.
  std::vector<BoxCell> cells;  // width x height of the query, the lowest addresses on top.
  std::vector<ShadeEntry>
      legend;  // Bytes are the average over the stretch, blocks all that lived in it; largest first.
  std::uint64_t boxes = 0;

  double left_of(double at) const {  // Of a point of the time axis, in px.
    const auto length = static_cast<double>(query.span.length());
    return length == 0 ? 0 : (at - static_cast<double>(query.span.begin)) / length * query.width;
  }
  std::size_t memory_bytes() const { return cells.size() * sizeof(BoxCell) + axis.regions().size() * 48 + 4096; }
};

// Nothing where `control` was cancelled. A block that was moved is drawn where it was last.
std::optional<AddressTime> compute_address_time(const Stream& stream, const AddressTimeQuery& query,
                                                const ColorKeeper& colors, PassControl* control);

// One pixel a cell. Occupied by a quarter, a half, three quarters or all: so strong is its colour over that of free.
std::vector<Pixel> pixels_from_address_time(const AddressTime& picture, Theme theme);

}  // namespace hbmscope::gui
