// How a heap's figures went over a whole trace, cut into a fixed number of columns of the x axis: what a picture of any
// width is drawn from. Exact up to some million events; beyond that as exact as the stream's own timeline, which never
// leaves out a peak.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/stream.h"
#include "app/gui/core/trace_moment.h"

namespace hbmscope::gui {

struct Band {
  std::uint64_t least = 0, most = 0;
  void add(std::uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  friend bool operator==(const Band&, const Band&) = default;
};

struct TimelineColumn {
  Band in_use, pool, largest_free;
  std::uint64_t position = 0;  // After the last event of the column: where a click on it goes.
  bool is_inexact = false;     // Events were lost, and the heap was not listed anew since.
};

struct TimelineMark {
  double at = 0;  // On the x axis, from 0 to 1.
  std::uint64_t position = 0, bytes = 0;
};

struct TimelineColumns {
  HeapKey heap;
  bool has_times = false;           // Else the axis counts events.
  bool knows_regions = false;       // At every moment; else pool and largest free are not known.
  std::int64_t begin = 0, end = 0;  // Of the axis: nanoseconds on the stream's clock, or positions.
  std::vector<TimelineColumn> columns;
  std::vector<TimelineMark> failures;  // Out-of-memories of the heap, with what was asked; before the event.
  std::optional<TimelineMark> peak;
  std::uint64_t in_use_most = 0, pool_most = 0, largest_free_most = 0, asked_most = 0;

  double column_of(std::uint64_t position) const;  // Where the moment after so many events lies, from 0 to 1.
  std::string text_at(double at) const;            // "1.204 s", "event 4,711"
};

TimelineColumns compute_timeline_columns(const Stream& stream, HeapKey heap, std::size_t columns);

// Ticks at 1, 2 or 5 times a power of ten, as many as fit `most`; as shares of the axis with their words.
struct AxisTick {
  double at = 0;
  std::string text;
};
std::vector<AxisTick> ticks_of(const TimelineColumns& timeline, int most);

}  // namespace hbmscope::gui
