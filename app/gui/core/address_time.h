// A heap's addresses over a stretch of time, as a picture: every block is a box from its allocation to its free, every
// region is memory from when it was taken to when it was given back. Two passes over the stretch: which memory and
// whose code there is, then the boxes.
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
  TimelineSpan span;  // Empty: all of it.
  int width = 0, height = 0;
  HeapColoring coloring = HeapColoring::automatic;  // What box_coloring() gives; of a picture what it came to.
  AddressRange addresses = {};                      // Zoomed: only these. Empty: all that was there in the stretch.

  friend bool operator==(const AddressTimeQuery&, const AddressTimeQuery&) = default;
};

struct AddressTime {
  AddressTimeQuery query;
  bool has_times = false;          // Else the axis counts events.
  std::int64_t first_time_ns = 0;  // Where the axis begins on the stream's clock.
  bool knows_regions = false;
  AddressAxis axis;    // What is seen of `whole`.
  AddressAxis whole;   // All memory that was there at any time of the stretch; where regions are not told, near blocks.
  ColorKeeper colors;  // Of lines of code, with those that got theirs here.
  std::vector<BoxCell> cells;  // width x height of the query, the lowest addresses on top.
  std::vector<ShadeEntry>
      legend;  // Bytes are the average over the stretch, blocks all that lived in it; largest first.
  std::uint64_t boxes = 0;

  double left_of(double at) const {  // Of a point of the time axis, in px.
    const auto length = static_cast<double>(query.span.length());
    return length == 0 ? 0 : (at - static_cast<double>(query.span.begin)) / length * query.width;
  }
  std::size_t memory_bytes() const { return cells.size() * sizeof(BoxCell) + whole.regions().size() * 96 + 4096; }
};

// A box has one colour for all of its time, so what changes with the moment (age, state, change since the pin) is no
// colour of it, and its lifetime is how long it is: these are as automatic.
HeapColoring box_coloring(HeapColoring wanted);

// Which addresses are seen then, where `seen` are now (empty: all): nearer by `factor` (above 1) so that what lies at
// `share` of the height stays there; or moved by a share of the height. Empty: all.
AddressRange zoom_addresses(const AddressTime& picture, AddressRange seen, double factor, double share);
AddressRange pan_addresses(const AddressTime& picture, AddressRange seen, double share);
// Where they lie in a picture of all of them, in rows.
struct RowSpan {
  double begin = 0, end = 0;
};
RowSpan rows_of_all(const AddressTime& picture, AddressRange seen);

// Nothing where `control` was cancelled. A block that was moved is drawn where it was last.
std::optional<AddressTime> compute_address_time(const Stream& stream, const AddressTimeQuery& query,
                                                const ColorKeeper& colors, PassControl* control);

// One pixel a cell. Occupied by a quarter, a half, three quarters or all: so strong is its colour over that of free.
std::vector<Pixel> pixels_from_address_time(const AddressTime& picture, Theme theme);

}  // namespace hbmscope::gui
