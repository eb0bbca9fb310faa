#include "app/gui/core/timeline_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/query/moment_comparison.h"
#include "analysis/trace/pass_from.h"
#include "analysis/units/format.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/timeline_counters.h"
#include "app/gui/core/timeline_heaps.h"
#include "app/gui/core/timeline_markers.h"

namespace hbmscope::gui {
namespace {

// Replaying costs 50 to 500 ns per event, depending on how many blocks are live. Above the first number, buckets take
// its place where they are narrow.
constexpr std::uint64_t replayed_events_max = 4'000'000, at_once_events_max = 50'000;
// Zooming in further shows nothing more.
constexpr std::int64_t shortest_span_ns = 100, shortest_span_events = 8;

TimelineColumn column_from(const StreamState& state, std::uint32_t id, std::uint64_t position) {
  const HeapState& heap = state.heap(id);
  const std::uint64_t in_use = state.in_use_bytes(id), pool = heap.space.region_bytes().value_or(0),
                      largest = heap.space.largest_free().value_or(0);
  // The size of a handle counts as requested.
  const std::uint64_t requested = heap.requested_bytes + (in_use - heap.in_use_bytes);
  TimelineColumn now{{in_use, in_use}, {requested, requested}, {pool, pool}, {largest, largest}, {}, position,
                     position,         state.is_inexact(id)};
  if (const auto share = external_fragmentation(heap))
    now.fragmentation.least = now.fragmentation.most = static_cast<float>(*share);
  return now;
}

// The heap's figures, and the stream's position at each column.
class Columns {
 public:
  Columns(TimelineColumns& timeline, std::size_t count, const TimelineColumn& first)
      : course_(timeline.columns, count, first) {}

  void add(const TimelineColumn& range, TimelineColumn last, std::size_t column) {
    last.most_position = last.position = range.position;
    course_.add(range, last, column);
  }
  // Something happened in another heap.
  void add_position(std::uint64_t position, std::size_t column) {
    TimelineColumn& now = course_.now();
    now.most_position = now.position = course_.go_to(column).position = position;
  }
  void finish() { course_.finish(); }

 private:
  Course<TimelineColumn> course_;
};

TimelineColumn column_from(const TimelineBucket& bucket) {
  TimelineColumn range{{bucket.least.in_use, bucket.most.in_use},
                       {bucket.least.requested, bucket.most.requested},
                       {bucket.least.pool, bucket.most.pool},
                       {bucket.least.largest_free, bucket.most.largest_free},
                       {},
                       bucket.last_position,
                       bucket.most_position,
                       bucket.is_inexact};
  if (bucket.has_fragmentation())
    range.fragmentation = {bucket.least.external_fragmentation, bucket.most.external_fragmentation};
  return range;
}
TimelineBucket only_last_of(const TimelineBucket& bucket) {
  TimelineBucket last = bucket;
  last.least = last.most = bucket.last;
  last.most_position = bucket.last_position;
  return last;
}

Band band_of(const StreamState& state, std::uint32_t heap) {
  const std::uint64_t bytes = state.in_use_bytes(heap);
  return {bytes, bytes};
}
Band band_of(const TimelineBucket& bucket) {
  return {bucket.least.in_use, bucket.most.in_use};
}

struct HeapBucket {
  std::uint32_t heap = 0;
  TimelineBucket bucket;
};

// Adds the events of a span to the columns of the shown heap and of the others, in order.
class Filling {
 public:
  Filling(const Stream& stream, TimelineColumns& timeline, std::size_t count)
      : stream_(stream), timeline_(timeline), count_(count), heap_(timeline.heap.heap) {}

  // Replays the first ones, up to the position `replayed_to`; the others are in buckets. False if cancelled.
  bool take(StreamPositions positions, std::uint64_t replayed_to, const std::atomic<bool>& cancelled) {
    StreamState state = stream_.state_at(positions.begin);
    Columns columns(timeline_, count_, column_from(state, heap_, positions.begin));
    HeapCourses others(timeline_, count_, [&](std::uint32_t heap) { return band_of(state, heap); });
    const bool is_whole = pass_over_states_from(
        stream_, state, replayed_to, [&](std::uint64_t) { return !cancelled; },
        [&](const StreamState& now, std::uint64_t position, std::int64_t time_ns, std::uint32_t changed) {
          const std::size_t column = column_of(position, time_ns);
          others.add(changed, band_of(now, changed), band_of(now, changed), column);
          if (changed != heap_ || heap_ == 0) return columns.add_position(position, column);
          const TimelineColumn figures = column_from(now, heap_, position);
          columns.add(figures, figures, column);
        });
    for (const HeapBucket& one : buckets_in({replayed_to, positions.end}, all_buckets)) add(one, columns, others);
    columns.add_position(positions.end, count_ - 1);
    others.finish();
    return is_whole;
  }

  // Nothing is replayed, and at most a few buckets for each column are looked at. Wide ones say only what the extremes
  // in their columns may be.
  void take_at_once(StreamPositions positions) {
    const auto first_of = [&](std::uint32_t heap) {
      const auto all = stream_.timeline(heap).buckets(positions.begin, positions.begin, all_buckets);
      if (all.empty() || all[0].first_position > positions.begin) return TimelineBucket();
      return all[0].last_position > positions.begin ? all[0] : only_last_of(all[0]);
    };
    Columns columns(timeline_, count_, column_from(first_of(heap_)));
    HeapCourses others(timeline_, count_, [&](std::uint32_t heap) { return band_of(first_of(heap)); });
    for (const HeapBucket& one : buckets_in(positions, count_ * 4)) add(one, columns, others);
    columns.finish();
    others.finish();
  }

  // Whether each of the finest buckets lies in one column or next to it.
  bool are_buckets_narrow(StreamPositions positions) const {
    constexpr std::size_t columns_max = 2;
    const std::vector<HeapBucket> all = buckets_in(positions, all_buckets);
    return std::all_of(all.begin(), all.end(), [&](const HeapBucket& one) {
      return column_of(one.bucket.last_position, one.bucket.last_time_ns) <=
             column_of(one.bucket.first_position, one.bucket.first_time_ns) + columns_max;
    });
  }

 private:
  static constexpr std::size_t all_buckets = ~std::size_t{0} / 2;

  std::size_t column_of(std::uint64_t position, std::int64_t time_ns) const {
    return timeline_.column_of(timeline_.share_of(position, time_ns), count_);
  }
  // With events after positions.begin; in the order of their last ones.
  std::vector<HeapBucket> buckets_in(StreamPositions positions, std::size_t wanted) const {
    std::vector<HeapBucket> all;
    if (positions.begin >= positions.end) return all;
    const auto add_heap = [&](std::uint32_t heap) {
      for (const TimelineBucket& bucket : stream_.timeline(heap).buckets(positions.begin, positions.end, wanted))
        if (bucket.last_position > positions.begin) all.push_back({heap, bucket});
    };
    add_heap(heap_);
    for (const TimelineHeap& heap : timeline_.heaps) add_heap(heap.heap);
    std::stable_sort(all.begin(), all.end(), [](const HeapBucket& a, const HeapBucket& b) {
      return a.bucket.last_position < b.bucket.last_position;
    });
    return all;
  }
  // The places of the extremes within a bucket are unknown, so all its columns get them.
  void add(const HeapBucket& one, Columns& columns, HeapCourses& others) const {
    const TimelineBucket& bucket = one.bucket;
    const std::size_t first = column_of(bucket.first_position, bucket.first_time_ns),
                      last = std::max(first, column_of(bucket.last_position, bucket.last_time_ns));
    const TimelineBucket after = only_last_of(bucket);
    for (std::size_t column = first; column <= last; ++column) {
      if (one.heap == heap_)
        columns.add(column_from(bucket), column_from(after), column);
      else
        others.add(one.heap, band_of(bucket), band_of(after), column);
    }
    if (one.heap != heap_) columns.add_position(bucket.last_position, last);
  }

  const Stream& stream_;
  TimelineColumns& timeline_;
  std::size_t count_;
  std::uint32_t heap_;
};

// Keeps only the largest failed request of each column: a job that catches its failures may have a million.
void add_failure(const TimelineMark& failure, std::size_t columns, std::vector<TimelineMark>& failures) {
  if (failure.at < 0 || failure.at > 1) return;
  const auto column_of = [&](double at) { return static_cast<std::size_t>(at * static_cast<double>(columns)); };
  if (failures.empty() || failures.size() < 1'000 || column_of(failures.back().at) != column_of(failure.at))
    failures.push_back(failure);
  else if (failure.bytes > failures.back().bytes)
    failures.back() = failure;
}

void add_marks(const Stream& stream, TimelineColumns& timeline) {
  for (const FailureEvent& failure : stream.failures()) {
    if (failure.heap != timeline.heap.heap) continue;
    const double at =
        timeline.share_of_axis(timeline.has_times ? static_cast<double>(failure.time_ns - timeline.first_time_ns)
                                                  : static_cast<double>(failure.event));
    add_failure({at, failure.event, failure.requested_bytes}, timeline.columns.size(),
                failure.is_out_of_memory ? timeline.failures : timeline.refusals);
    if (failure.is_out_of_memory) timeline.requested_most = std::max(timeline.requested_most, failure.requested_bytes);
  }
  if (const HeapPeak peak = stream.peak(timeline.heap.heap); peak.in_use_bytes > 0)
    timeline.peak = {timeline.share_of(peak.position, peak.time_ns), peak.position, peak.in_use_bytes};
}

// Marks the columns in which events were lost. What is drawn there only continues the figures from before the loss.
void mark_losses(const Stream& stream, TimelineColumns& timeline) {
  if (!timeline.has_times) return;
  const auto column_of = [&](std::int64_t time_ns) {
    const std::int64_t at = std::clamp(time_ns, stream.first_time_ns(), stream.last_time_ns());
    return timeline.share_of_axis(static_cast<double>(at - timeline.first_time_ns));
  };
  for (const LossStretch& loss : stream.losses()) {
    const double begin = column_of(loss.since_ns), end = column_of(loss.until_ns);
    if ((loss.heap != 0 && loss.heap != timeline.heap.heap) || end < 0 || begin > 1) continue;
    const std::size_t count = timeline.columns.size();
    for (std::size_t column = timeline.column_of(begin, count); column <= timeline.column_of(end, count); ++column)
      (loss.is_skipped ? timeline.columns[column].is_skipped : timeline.columns[column].is_inexact) = true;
  }
}

// The power of ten of a step: 2 ms -> 6.
int power_of(double step) {
  return static_cast<int>(std::floor(std::log10(step) + 1e-9));
}

// A multiple of the step, with as many decimals as the step needs, in the unit of the last tick: "8.74 s", "490 ms",
// "1:02.740012".
std::string tick_text(std::int64_t ns, double step, std::int64_t last_ns) {
  if (ns == 0) return "0";
  constexpr std::int64_t second = 1'000'000'000, minute = 60 * second;
  const auto value = static_cast<double>(ns);
  if (last_ns >= minute) {
    const int decimals = std::clamp(9 - power_of(step), 0, 9);
    const double seconds = static_cast<double>(ns % minute) / 1e9;
    const std::string end = fmt::format("{:0{}.{}f}", seconds, decimals > 0 ? decimals + 3 : 2, decimals);
    const std::int64_t minutes = ns / minute;
    return minutes < 60 ? fmt::format("{}:{}", minutes, end)
                        : fmt::format("{}:{:02}:{}", minutes / 60, minutes % 60, end);
  }
  const int unit = last_ns >= second ? 9 : last_ns >= 1'000'000 ? 6 : 3;
  constexpr std::array<const char*, 3> names = {"µs", "ms", "s"};
  return fmt::format("{:.{}f} {}", value / std::pow(10.0, unit), std::max(0, unit - power_of(step)),
                     names[static_cast<std::size_t>(unit / 3 - 1)]);
}

// "+20 ms", "+1.2 s": from the first tick.
std::string offset_tick_text(double ns) {
  if (ns >= 1e9) return fmt::format("+{:.10g} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("+{:.10g} ms", ns / 1e6);
  return ns >= 1e3 ? fmt::format("+{:.10g} µs", ns / 1e3) : fmt::format("+{:.10g} ns", ns);
}

double nice_step(double range, int most) {
  const double raw = range / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= raw) return power * factor;
  return power * 10;
}

}  // namespace

void TimelineColumn::add(const TimelineColumn& later) {
  if (later.in_use.most > in_use.most) most_position = later.most_position;
  for (const auto& [band, more] : {std::pair(&in_use, &later.in_use), std::pair(&requested, &later.requested),
                                   std::pair(&pool, &later.pool), std::pair(&largest_free, &later.largest_free)}) {
    band->add(*more);
  }
  fragmentation.add(later.fragmentation);
  position = later.position;
  is_inexact |= later.is_inexact;
  is_skipped |= later.is_skipped;
}

TimelineSpan whole_span_of(const Stream& stream) {
  return {0, stream.has_times() ? stream.since_start_ns(stream.last_time_ns())
                                : static_cast<std::int64_t>(stream.end_position())};
}

std::int64_t axis_of(const Stream& stream, std::uint64_t position, std::int64_t time_ns) {
  return stream.has_times() ? std::max<std::int64_t>(0, stream.since_start_ns(time_ns))
                            : static_cast<std::int64_t>(position);
}

TimelineSpan active_span_of(const Stream& stream, std::uint32_t heap) {
  constexpr std::size_t buckets = 512;
  // A fiftieth of the peak is something; what a program frees as it exits is few events.
  constexpr std::uint64_t share_held = 50, share_of_events = 10, share_of_last_events = 20;
  const TimelineSpan whole = whole_span_of(stream);
  const std::uint64_t least = stream.peak(heap).in_use_bytes / share_held;
  std::int64_t begin = 0;
  for (const TimelineBucket& bucket : stream.timeline(heap).buckets(0, stream.end_position(), buckets)) {
    if (bucket.most.in_use <= least) continue;
    begin = axis_of(stream, bucket.first_position, bucket.first_time_ns);
    break;
  }
  // A program that starts for a long time, and allocates a few parameters meanwhile.
  const auto time_of = [&](std::uint64_t position) {
    return axis_of(stream, position, stream.state_at(position).time_ns());
  };
  if (const std::int64_t started = time_of(stream.end_position() / share_of_events); started > whole.length() / 4)
    begin = std::max(begin, started);
  if (begin < whole.length() / 8) begin = 0;
  // The same for a long end, if nothing fails there.
  std::int64_t end = whole.end;
  const std::uint64_t last = stream.end_position() - stream.end_position() / share_of_last_events;
  if (stream.failures().empty() && stream.peak(heap).position <= last)
    if (const std::int64_t done = time_of(last); end - done > (end - begin) / 4) end = done;
  const std::int64_t margin = (end - begin) / 20;
  const TimelineSpan span{std::max<std::int64_t>(0, begin - margin), std::min(whole.end, end + margin)};
  return span.length() == whole.length() ? TimelineSpan() : span;
}

StreamPositions positions_of(const Stream& stream, TimelineSpan span) {
  if (span == whole_span_of(stream)) return {0, stream.end_position()};
  if (!stream.has_times()) return {static_cast<std::uint64_t>(span.begin), static_cast<std::uint64_t>(span.end)};
  return {stream.position_of_time(stream.zero_ns() + span.begin - 1),
          stream.position_of_time(stream.zero_ns() + span.end)};
}

bool is_at_once(StreamPositions positions) {
  return positions.end - positions.begin <= at_once_events_max;
}

std::optional<TimelineColumns> compute_timeline_columns(const Stream& stream, HeapKey heap, TimelineSpan span,
                                                        std::size_t count, TimelineEffort effort,
                                                        const std::atomic<bool>& cancelled) {
  TimelineColumns timeline;
  timeline.heap = heap;
  timeline.has_times = stream.has_times();
  timeline.first_time_ns = timeline.has_times ? stream.zero_ns() : 0;
  timeline.whole = whole_span_of(stream);
  timeline.span = span.empty() ? timeline.whole : span;
  timeline.span.end = std::min(timeline.span.end, timeline.whole.end);
  timeline.knows_regions = !heap.empty();
  const HeapInfo& info = stream.definitions().heap(heap.heap);
  timeline.knows_requested = info.has(wire::heap_flag::has_requested) && !info.has(wire::heap_flag::sizes_are_requests);
  for (const TimelineBucket& bucket : stream.timeline(heap.heap).buckets(0, stream.end_position(), 1)) {
    timeline.knows_regions &= bucket.knows_regions;
    timeline.knows_requested &= bucket.knows_requested;
  }
  const StreamPositions positions = positions_of(stream, timeline.span);
  timeline.begin_position = positions.begin;
  count = std::max<std::size_t>(1, count);
  add_heaps(stream, timeline);
  Filling filling(stream, timeline, count);
  std::uint64_t replayed_to = positions.end;
  if (positions.end - positions.begin > replayed_events_max) {
    const std::uint64_t narrow_from = std::max(positions.begin, Timeline::narrow_from);
    if (filling.are_buckets_narrow({narrow_from, positions.end})) replayed_to = narrow_from;
  }
  if (effort == TimelineEffort::at_once && !is_at_once(positions))
    filling.take_at_once(positions);
  else if (!filling.take(positions, replayed_to, cancelled))
    return std::nullopt;
  for (const TimelineColumn& column : timeline.columns) {
    timeline.in_use_most = std::max(timeline.in_use_most, column.in_use.most);
    timeline.pool_most = std::max(timeline.pool_most, column.pool.most);
    timeline.largest_free_most = std::max(timeline.largest_free_most, column.largest_free.most);
  }
  mark_losses(stream, timeline);
  add_marks(stream, timeline);
  add_markers(stream, timeline);
  add_counters(stream, timeline);
  return timeline;
}

std::optional<TimelineColumns> compute_columns_by_requests(const Stream& stream, const TimelineColumns& own,
                                                           const Stream& other, HeapKey other_heap,
                                                           PassControl* control) {
  std::vector<std::uint64_t> positions{own.begin_position};
  for (const TimelineColumn& column : own.columns) positions.push_back(std::max(positions.back(), column.position));
  const auto found = find_matching_positions(stream, own.heap.heap, positions, other, other_heap.heap, control);
  if (!found) return std::nullopt;
  TimelineColumns columns;
  columns.heap = other_heap;
  columns.has_times = own.has_times;
  columns.whole = own.whole;
  columns.span = own.span;
  StreamState state = other.state_at(found->front().position);
  Columns course(columns, own.columns.size(), column_from(state, other_heap.heap, found->front().position));
  std::size_t column = 0;
  const bool is_done = pass_over_states_from(
      other, state, found->back().position, [&](std::uint64_t) { return control == nullptr || !control->cancelled; },
      [&](const StreamState& now, std::uint64_t position, std::int64_t, std::uint32_t changed) {
        while (column + 1 < own.columns.size() && (*found)[column + 1].position < position) ++column;
        const TimelineColumn figures = column_from(now, other_heap.heap, position);
        if (changed == other_heap.heap || changed == 0) course.add(figures, figures, column);
      });
  if (!is_done) return std::nullopt;
  course.finish();
  for (const TimelineColumn& one : columns.columns)
    columns.in_use_most = std::max(columns.in_use_most, one.in_use.most);
  return columns;
}

double TimelineColumns::share_of(std::uint64_t position, std::int64_t time_ns) const {
  for (const TimelineMark& failure : failures)
    if (failure.position == position) return failure.at;
  return share_of_axis(has_times ? static_cast<double>(position == 0 ? 0 : time_ns - first_time_ns)
                                 : static_cast<double>(position));
}

double TimelineColumns::share_of_axis(double at) const {
  return span.empty() ? 0 : (at - static_cast<double>(span.begin)) / static_cast<double>(span.length());
}

std::size_t TimelineColumns::column_of(double share, std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(count)));
}

double TimelineColumns::axis_at(double share) const {
  return static_cast<double>(span.begin) + share * static_cast<double>(span.length());
}

std::string TimelineColumns::text_at(double share) const {
  const auto at = static_cast<std::int64_t>(axis_at(share));
  constexpr std::int64_t places = 4096;  // About the pixels of a wide window.
  return has_times ? text_from_moment_ns(at, span.length() / places) : "event " + text_from_count(at);
}

TimelineSpan possible_span(const TimelineColumns& timeline, double begin, double end) {
  const auto whole = static_cast<double>(timeline.whole.end);
  const auto least = std::min(whole, static_cast<double>(timeline.has_times ? shortest_span_ns : shortest_span_events));
  const double length = std::clamp(end - begin, least, whole);
  begin = std::clamp(begin + (end - begin - length) / 2, 0.0, whole - length);
  const TimelineSpan span{std::llround(begin), std::llround(begin + length)};
  return span == timeline.whole ? TimelineSpan{} : span;
}

std::vector<AxisTick> ticks_of(const TimelineColumns& timeline, int most) {
  std::vector<AxisTick> ticks;
  if (timeline.span.empty()) return ticks;
  const double step = std::max(1.0, nice_step(static_cast<double>(timeline.span.length()), most));
  const auto multiple = [&](double at) { return static_cast<std::int64_t>(std::llround(at * step)); };
  const double first = std::ceil(static_cast<double>(timeline.span.begin) / step);
  const double last = std::floor(static_cast<double>(timeline.span.end) / step);
  // Below a hundredth of the time, only the last digits would differ.
  const bool has_offsets = first >= 100;
  for (double at = first; at <= last; ++at) {
    const std::string text = !timeline.has_times ? exact_text_from_count(multiple(at))
                             : !has_offsets || at == first
                                 ? tick_text(multiple(at), step, multiple(has_offsets ? first : last))
                                 : offset_tick_text(step * (at - first));
    ticks.push_back({timeline.share_of_axis(step * at), text});
  }
  return ticks;
}

}  // namespace hbmscope::gui
