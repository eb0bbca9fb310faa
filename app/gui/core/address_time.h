// A picture of a heap's addresses over a span of time. Each block is a box from its allocation to its free; each region
// is memory from its allocation to its release. Two passes over the span: the first finds the memory and the code that
// allocated, the second draws the boxes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "app/gui/core/address_axis.h"
#include "app/gui/core/box_raster.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

struct AddressTimeQuery {
  HeapKey heap;
  TimelineSpan span;  // Empty: the whole trace.
  int width = 0, height = 0;
  HeapColoring coloring = HeapColoring::user_code;  // The result of box_coloring().
  AddressRange addresses = {};                      // The zoomed range. Empty means all memory of the span.

  friend bool operator==(const AddressTimeQuery&, const AddressTimeQuery&) = default;
};

struct AddressTime {
  AddressTimeQuery query;
  bool has_times = false;          // False: the axis counts events.
  std::int64_t first_time_ns = 0;  // The start of the axis on the stream's clock.
  bool knows_regions = false;
  AddressAxis axis;            // The visible part of `whole`.
  AddressAxis whole;           // All memory that existed during the span. Without known regions: areas of close blocks.
  std::vector<BoxCell> cells;  // width x height of the query, lowest addresses first.
  std::vector<ShadeEntry>
      legend;  // Largest first. Bytes are the average over the span; blocks are all that were live in it.
  std::uint64_t boxes = 0;

  double left_of(double at) const {  // The x position of a point on the time axis, in px.
    const auto length = static_cast<double>(query.span.length());
    return length == 0 ? 0 : (at - static_cast<double>(query.span.begin)) / length * query.width;
  }
  std::size_t memory_bytes() const { return cells.size() * sizeof(BoxCell) + whole.regions().size() * 96 + 4096; }
};

// A box has one colour for its whole life. Colorings that change with time (age, state, change since the pinned time)
// can't be used, and lifetime is already the length of the box. For all of these the result is the trace's automatic
// one.
HeapColoring box_coloring(HeapColoring wanted, const TraceColors& colors);

// The visible addresses after zooming or panning; `seen` is the range that is visible now. A factor above 1 zooms in,
// and the address at `share` of the height stays in place. `share` of pan_addresses is the distance as a share of the
// height. In all of these an empty range means all addresses.
AddressRange zoom_addresses(const AddressTime& picture, AddressRange seen, double factor, double share);
AddressRange pan_addresses(const AddressTime& picture, AddressRange seen, double share);
// The rows that `seen` occupies in a picture of all addresses.
struct RowSpan {
  double begin = 0, end = 0;
};
RowSpan rows_of_all(const AddressTime& picture, AddressRange seen);

// Nothing if `control` was cancelled. A block that was moved is drawn at its last address.
std::optional<AddressTime> compute_address_time(const Stream& stream, const AddressTimeQuery& query,
                                                const TraceColors& colors, PassControl* control);

// One pixel per cell. The more of the cell is occupied (a quarter, a half, three quarters, all), the stronger is its
// colour over the colour of free memory.
std::vector<Pixel> pixels_from_address_time(const AddressTime& picture, Theme theme);

}  // namespace hbmscope::gui
