// The figures of a heap over a span of a trace, in a fixed number of columns along the x axis: the data of the timeline
// picture. One pass over the span gives the exact minimum and maximum of each column. The first answer for a long span
// comes from the stream's own timeline instead; it never misses a peak, but may show it in the neighbouring column too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/pass_control.h"
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

// Shares from 0 to 1, defined at some events only.
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
  std::uint64_t most_position = 0;  // After the first event with the most bytes in use: the target of a click.
  bool is_inexact = false;          // Events were lost, and the heap was not listed again since.
  bool is_skipped = false;          // Events were skipped on request.

  void add(const TimelineColumn& later);
};

// A counter's values, in the unit given by its name; undefined before its first report.
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
  std::int64_t most = 0;             // In all columns; 0 if no value is above 0.
  std::vector<CounterBand> columns;  // As many as the timeline has.
};
std::string text_from_counter(const TimelineCounter& counter, std::int64_t value);

// Bytes in use of another heap of the same process.
struct TimelineHeap {
  std::uint32_t heap = 0;
  std::string name;            // With its device if the name alone is ambiguous.
  bool is_other_kind = false;  // Another kind of a device's memory, e.g. VMEM when the timeline shows HBM.
  std::uint64_t peak = 0;      // In the whole trace.
  std::uint64_t pool = 0;      // Largest pool size of the whole trace. 0 if unknown.
  std::vector<Band> columns;   // As many as the timeline has.
};

struct TimelineMark {
  double at = 0;  // On the x axis, from 0 to 1; outside that range if it is not in the span.
  std::uint64_t position = 0, bytes = 0;
};

// A marker of the source: an instant if begin and end are equal, otherwise a range.
struct TimelineMarker {
  double begin = 0, end = 0;  // On the x axis; a range may begin or end outside the span.
  std::uint64_t position = 0;
  std::uint64_t count = 1;  // Markers merged because they are too close; the name is that of the first.
  int depth = 0;            // Number of enclosing ranges.
  std::string name;
  std::uint64_t end_position = 0;  // Of a range, unless it is merged.
};

// A span of the axis: nanoseconds since the first event, or events if there are no times. Empty means the whole trace.
TimelineSpan whole_span_of(const Stream& stream);
// The point of that axis after `position` events, at that time on the stream's clock; 0 for an earlier one.
std::int64_t axis_of(const Stream& stream, std::uint64_t position, std::int64_t time_ns);
// Without a long beginning in which the heap holds nearly nothing: what the timeline shows first. Empty means the whole
// trace.
TimelineSpan active_span_of(const Stream& stream, std::uint32_t heap);
struct StreamPositions {
  std::uint64_t begin = 0, end = 0;
};
StreamPositions positions_of(const Stream& stream, TimelineSpan span);  // Excludes events after the span.

struct TimelineColumns {
  HeapKey heap;                // Empty if no heap ever held anything: only the stream's counters are shown.
  bool has_times = false;      // False: the axis counts events.
  bool knows_regions = false;  // During the whole trace. False: pool, largest free block and fragmentation are unknown.
  bool knows_requested = false;  // During the whole trace.
  TimelineSpan whole, span;
  std::int64_t first_time_ns = 0;    // The start of the axis on the stream's clock.
  std::uint64_t begin_position = 0;  // Number of events before the span.
  std::vector<TimelineColumn> columns;
  // Out of memory; refused by the driver. With the requested bytes, before the event.
  std::vector<TimelineMark> failures, refusals;
  std::vector<TimelineMarker> instants, stretches;
  std::vector<TimelineCounter> counters;
  std::size_t counters_left_out = 0;
  std::vector<TimelineHeap> heaps;  // The other heaps.
  std::size_t heaps_left_out = 0;
  std::optional<TimelineMark> peak;
  std::uint64_t in_use_most = 0, pool_most = 0, largest_free_most = 0, requested_most = 0;

  // The x position of a time, from 0 to 1; outside that range if it is not in the span. `time_ns`: the time of the last
  // event before it, on the stream's clock.
  double share_of(std::uint64_t position, std::int64_t time_ns) const;
  double share_of_axis(double at) const;                          // The x position of a point of the axis.
  static std::size_t column_of(double share, std::size_t count);  // Clamped to [0, count).
  double axis_at(double share) const;
  std::string text_at(double share) const;  // "1.204 s", or "1.2041378 s" in a short span; "event 4,711"
};

// At once: longer spans use the stream's own timeline, so that a column may have the extremes of its neighbours. Exact:
// in very long streams a column may have those of the next two.
enum class TimelineEffort : std::uint8_t { at_once, exact };
// Whether both are the same; `positions`: the events of the span.
bool is_at_once(StreamPositions positions);

// Nothing if `cancelled` became true.
std::optional<TimelineColumns> compute_timeline_columns(const Stream& stream, HeapKey heap, TimelineSpan span,
                                                        std::size_t columns, TimelineEffort effort,
                                                        const std::atomic<bool>& cancelled);

// Another stream's bytes in use on this one's axis, where both have had the same number of requests. `own`: the columns
// of the axis. Nothing if cancelled.
std::optional<TimelineColumns> compute_columns_by_requests(const Stream& stream, const TimelineColumns& own,
                                                           const Stream& other, HeapKey other_heap,
                                                           PassControl* control);

// Clamps to the axis and to the shortest distinguishable span; empty if it is the whole axis.
TimelineSpan possible_span(const TimelineColumns& timeline, double begin, double end);

// Ticks at 1, 2 or 5 times a power of ten, at most `most` of them: the position as a share of the span, and the label.
// Far zoomed in, the first one has the time, "8.74 s", and the others count from it, "+20 ms".
struct AxisTick {
  double at = 0;
  std::string text;
};
std::vector<AxisTick> ticks_of(const TimelineColumns& timeline, int most);

}  // namespace hbmscope::gui
