// How a heap's figures went over a stretch of a trace, cut into a fixed number of columns of the x axis: what a picture
// of the timeline is drawn from. Minimum and maximum of each column are exact, from one pass over the stretch; a first
// answer about a long one is made of the stream's own timeline, which never leaves out a peak, and may show it in the
// column beside it too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/stream.h"
#include "app/gui/core/timeline_span.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct Band {
  std::uint64_t least = 0, most = 0;
  void add(std::uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  void add(const Band& more) {
    least = std::min(least, more.least);
    most = std::max(most, more.most);
  }
  friend bool operator==(const Band&, const Band&) = default;
};

// Of shares from 0 to 1, at some of the events only.
struct ShareBand {
  float least = 2, most = -1;
  bool is_defined() const { return most >= 0; }
  void add(const ShareBand& more) {
    least = std::min(least, more.least);
    most = std::max(most, more.most);
  }
  friend bool operator==(const ShareBand&, const ShareBand&) = default;
};

struct TimelineColumn {
  Band in_use, requested, pool, largest_free;
  ShareBand fragmentation;
  std::uint64_t position = 0;       // After the last event of the column.
  std::uint64_t most_position = 0;  // After the first event with the most in use: where a click on the column goes.
  bool is_inexact = false;          // Events were lost, and the heap was not listed anew since.
  bool is_skipped = false;          // They were skipped, as somebody wished.

  void add(const TimelineColumn& later);
};

// Of a counter, in the unit that its name says; not defined before it was told first.
struct CounterBand {
  std::int64_t least = 0, most = 0;
  bool is_defined = false;
  void add(const CounterBand& more) {
    if (!more.is_defined) return;
    least = is_defined ? std::min(least, more.least) : more.least;
    most = is_defined ? std::max(most, more.most) : more.most;
    is_defined = true;
  }
  friend bool operator==(const CounterBand&, const CounterBand&) = default;
};
struct TimelineCounter {
  std::string name;
  bool is_bytes = false;
  std::int64_t most = 0;             // Of the columns; 0 where none is above.
  std::vector<CounterBand> columns;  // As many as the timeline has.
};
std::string text_from_counter(const TimelineCounter& counter, std::int64_t value);

// Another heap of the same process: what of it is in use.
struct TimelineHeap {
  std::uint32_t heap = 0;
  std::string name;            // Told apart from the others by its device, where it has to be.
  bool is_other_kind = false;  // Of memory: VMEM beside HBM.
  std::uint64_t peak = 0;      // Of the whole trace.
  std::uint64_t pool = 0;      // Likewise, its size at most; 0: not told.
  std::vector<Band> columns;   // As many as the timeline has.
};

struct TimelineMark {
  double at = 0;  // On the x axis, from 0 to 1; outside of it for what is not in this stretch.
  std::uint64_t position = 0, bytes = 0;
};

// A mark of the source: an instant where begin and end are the same, else a stretch.
struct TimelineMarker {
  double begin = 0, end = 0;  // On the x axis; a stretch may begin or end beyond it.
  std::uint64_t position = 0;
  std::uint64_t count = 1;  // So many marks are this near to one another; it has the first one's name.
  int depth = 0;            // So many stretches are around it.
  std::string name;
};

// On the axis: nanoseconds since the first event, or events where there are no times. Empty: all of it.
TimelineSpan whole_span_of(const Stream& stream);
struct StreamPositions {
  std::uint64_t begin = 0, end = 0;
};
StreamPositions positions_of(const Stream& stream, TimelineSpan span);  // Of its events, the later ones not included.

struct TimelineColumns {
  HeapKey heap;                // Empty where no heap ever held anything: of its stream's counters alone.
  bool has_times = false;      // Else the axis counts events.
  bool knows_regions = false;  // At every moment of the trace; else pool, largest free and fragmentation are not known.
  bool knows_requested = false;  // Likewise.
  TimelineSpan whole, span;
  std::int64_t first_time_ns = 0;    // Where the axis begins on the stream's clock.
  std::uint64_t begin_position = 0;  // So many events had happened as the span began.
  std::vector<TimelineColumn> columns;
  std::vector<TimelineMark> failures, refusals;  // Out of memory, of the driver; with what was asked; before the event.
  std::vector<TimelineMarker> instants, stretches;
  std::vector<TimelineCounter> counters;
  std::size_t counters_left_out = 0;
  std::vector<TimelineHeap> heaps;  // The others.
  std::size_t heaps_left_out = 0;
  std::optional<TimelineMark> peak;
  std::uint64_t in_use_most = 0, pool_most = 0, largest_free_most = 0, asked_most = 0;

  // Where a moment lies, from 0 to 1; outside of it for one that is not in this stretch. `time_ns`: of the last event
  // before it, on the stream's clock.
  double share_of(std::uint64_t position, std::int64_t time_ns) const;
  double share_of_axis(double at) const;                          // Of a point of the axis.
  static std::size_t column_of(double share, std::size_t count);  // Of so many columns; the nearest for one outside.
  double axis_at(double share) const;
  std::string text_at(double share) const;  // "1.204 s", "event 4,711"
};

// How much of a stretch may be replayed for exact columns; a longer one is taken from the stream's own timeline.
enum class TimelineEffort : std::uint8_t { at_once, quick, exact };
// Of the events of a stretch.
bool is_exact(TimelineEffort effort, StreamPositions positions);

// Nothing where `cancelled` became true meanwhile.
std::optional<TimelineColumns> compute_timeline_columns(const Stream& stream, HeapKey heap, TimelineSpan span,
                                                        std::size_t columns, TimelineEffort effort,
                                                        const std::atomic<bool>& cancelled);

// Within the axis, not shorter than what can be told apart; empty where it is all of it.
TimelineSpan possible_span(const TimelineColumns& timeline, double begin, double end);

// Ticks at 1, 2 or 5 times a power of ten, as many as fit `most`; as shares of the stretch with their words.
struct AxisTick {
  double at = 0;
  std::string text;
};
std::vector<AxisTick> ticks_of(const TimelineColumns& timeline, int most);

}  // namespace hbmscope::gui
