// A heap over time: bytes in use, pool size, largest free block, fragmentation, failures. A click or a drag of the
// scrubber moves the time that all views show; a drag over the lanes selects a range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/query/event_times.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/timeline/draw_timeline_stack.h"

namespace hbmscope::gui {

// The selected range on the axis. It is drawn before its answer is computed.
struct SelectedRange {
  double begin = 0, end = 0;
  TimeRange pushed_as;
  std::weak_ptr<const Trace> trace;  // In a later version of the trace the peak may move.
};

// The name of the marked span that is the range, looked up once.
struct RangeName {
  TimeRange of;
  std::string words;
};

// Where the context menu was opened, and what is there.
struct TimelineMenu {
  double at = 0;               // On the axis.
  std::uint64_t position = 0;  // Number of events until there.
  std::optional<LiveBlock> block;
  std::optional<std::uint32_t> heap;  // Another kind of memory: its index in TimelineColumns::heaps.
};

// When the block under the pointer was allocated, since the start, and when freed.
struct TimelineLife {
  std::uint64_t event = 0, address = 0;
  std::uint64_t seen_until = 0;  // The position at which the picture ends.
  std::optional<std::int64_t> since_start_ns;
  std::optional<FreeFound> freed;
  std::weak_ptr<const Trace> trace;
};

struct TimelineState {
  bool is_scrubbing = false;         // The first step of the drag was pushed.
  bool is_selecting = false;         // The same for selecting a range.
  bool folds_lanes = true;           // The lanes leave a plot of 300 px to what is in use.
  std::string folded;                // What is folded: "fragmentation, 3 counters".
  bool fits_y = false;               // The y axis fits the visible data, also from below; otherwise the whole trace.
  std::optional<ByteRange> y_range;  // Zoomed by hand.
  double pressed_at = 0;             // On the axis: the start of the drag.
  SelectedRange selected;
  RangeName range_name;
  // In the overview: its visible part is moved, one of its edges is, or a new one is drawn.
  enum class StripDrag : std::uint8_t { part, edge, drawn };
  StripDrag strip_drag = StripDrag::part;
  double grip = 0;         // On the axis: the grabbed point within the part, or the end that stays.
  MomentName pushed;       // The last time that it pushed.
  TimeRange pushed_range;  // The last range that it pushed.
  StackedBands bands;
  std::vector<StackedBands> tiers;    // As TimelineColumns::heaps, other kinds of memory only.
  std::vector<StackedBands> devices;  // As DeviceStacks::devices.
  std::size_t first_device = 0;       // The row at the top, if not all fit.
  TimelineMenu menu;
  TimelineLife life;
  PixelCanvas lanes, overview;
  std::uint64_t copy_seen = 0, zoom_seen = 0;
};

void draw_timeline(const AppState& state, TimelineState& timeline, CommandQueue& commands);

}  // namespace hbmscope::gui
