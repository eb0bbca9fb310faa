#include "app/gui/core/timeline_columns.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/trace/pass.h"
#include "analysis/units/format.h"
#include "app/gui/core/piece_text.h"

namespace hbmscope::gui {
namespace {

// Replaying costs some 50 ns an event: a fifth of a second, off the frame.
constexpr std::uint64_t replayed_events_max = 4'000'000;

struct Figures {
  std::uint64_t in_use = 0, pool = 0, largest_free = 0;
  bool is_inexact = false;
};

Figures figures_of(const StreamState& state, std::uint32_t id) {
  const HeapState& heap = state.heap(id);
  return {state.in_use_bytes(id), heap.space.region_bytes().value_or(0), heap.space.largest_free().value_or(0),
          heap.is_inexact || state.physical().heap(id).is_inexact};
}

// Takes in figures in the order of the stream; what is the case stays the case until the next change.
class Columns {
 public:
  Columns(TimelineColumns& timeline, std::size_t count) : timeline_(timeline) { timeline.columns.resize(count); }

  double share_of(std::uint64_t position, std::int64_t time_ns) const {
    const auto at = timeline_.has_times ? static_cast<double>(time_ns) : static_cast<double>(position);
    const auto begin = static_cast<double>(timeline_.begin), end = static_cast<double>(timeline_.end);
    return end > begin ? std::clamp((at - begin) / (end - begin), 0.0, 1.0) : 0;
  }
  std::size_t column_of(double share) const {
    return std::min(timeline_.columns.size() - 1,
                    static_cast<std::size_t>(share * static_cast<double>(timeline_.columns.size())));
  }

  // Extends what was up to and with the column.
  void go_to(std::size_t column) {
    while (!has_begun_ || at_ < column) {
      if (has_begun_) ++at_;
      has_begun_ = true;
      timeline_.columns[at_] = {{now_.in_use, now_.in_use},
                                {now_.pool, now_.pool},
                                {now_.largest_free, now_.largest_free},
                                position_,
                                now_.is_inexact};
    }
  }
  // A clock that steps back a little stays in the column where it was.
  void add(const Figures& now, std::uint64_t position, std::size_t column) {
    go_to(std::max(at_, column));
    now_ = now;
    TimelineColumn& here = timeline_.columns[at_];
    here.in_use.add(now.in_use);
    here.pool.add(now.pool);
    here.largest_free.add(now.largest_free);
    here.position = position_ = position;
    here.is_inexact |= now.is_inexact;
  }
  void add_position(std::uint64_t position, std::size_t column) {
    go_to(std::max(at_, column));
    timeline_.columns[at_].position = position_ = position;
  }
  void set_first(const Figures& first) { now_ = first; }

 private:
  TimelineColumns& timeline_;
  Figures now_;
  std::uint64_t position_ = 0;
  std::size_t at_ = 0;
  bool has_begun_ = false;
};

void take_events(const Stream& stream, std::uint32_t heap, Columns& columns) {
  bool has_begun = false;
  pass_over_states(stream, stream.end_position(), nullptr,
                   [&](const StreamState& state, std::uint64_t position, std::int64_t time_ns, std::uint32_t changed) {
                     if (position == 0) {  // What lived before.
                       columns.set_first(figures_of(state, heap));
                       return;
                     }
                     has_begun = true;
                     const std::size_t column = columns.column_of(columns.share_of(position, time_ns));
                     if (changed == heap)
                       columns.add(figures_of(state, heap), position, column);
                     else
                       columns.add_position(position, column);
                   });
  if (has_begun)
    columns.add_position(stream.end_position(), columns.column_of(1));
  else
    columns.go_to(columns.column_of(1));
}

void take_buckets(const Stream& stream, std::uint32_t heap, std::size_t count, Columns& columns) {
  const std::vector<TimelineBucket> buckets = stream.timeline(heap).buckets(0, stream.end_position(), count * 4);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const TimelineBucket& bucket = buckets[i];
    const bool is_last = i + 1 == buckets.size();
    const std::uint64_t end = is_last ? stream.end_position() : buckets[i + 1].first_position;
    const std::int64_t end_time = is_last ? stream.last_time_ns() : buckets[i + 1].first_time_ns;
    const std::size_t first = columns.column_of(columns.share_of(bucket.first_position, bucket.first_time_ns));
    const std::size_t last = std::max(first, columns.column_of(columns.share_of(end, end_time)));
    // Where in the bucket its extremes were is not known: all of its columns have them.
    for (std::size_t column = first; column <= last; ++column) {
      const std::uint64_t position = column == last ? end : bucket.first_position;
      for (const TimelineFigures& figures : {bucket.least, bucket.most, bucket.last})
        columns.add({figures.in_use, figures.pool, figures.largest_free, bucket.is_inexact}, position, column);
    }
  }
  columns.go_to(columns.column_of(1));
}

// "10 ms", "1.5 s": round numbers need no more digits than the step has; from a minute on as moments are written.
std::string tick_text(std::int64_t ns, double step) {
  if (ns == 0) return "0";
  if (ns >= 60'000'000'000) return text_from_moment_ns(ns);
  const auto value = static_cast<double>(ns);
  if (step >= 1e8) return fmt::format("{:g} s", value / 1e9);
  return step >= 1e5 ? fmt::format("{:g} ms", value / 1e6) : fmt::format("{:g} µs", value / 1e3);
}

double nice_step(double range, int most) {
  const double raw = range / std::max(1, most);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= raw) return power * factor;
  return power * 10;
}

}  // namespace

TimelineColumns compute_timeline_columns(const Stream& stream, HeapKey heap, std::size_t count) {
  TimelineColumns timeline;
  timeline.heap = heap;
  timeline.has_times = stream.has_times();
  timeline.begin = timeline.has_times ? stream.first_time_ns() : 0;
  timeline.end = timeline.has_times ? stream.last_time_ns() : static_cast<std::int64_t>(stream.end_position());
  timeline.knows_regions = true;
  for (const TimelineBucket& bucket : stream.timeline(heap.heap).buckets(0, stream.end_position(), 1))
    timeline.knows_regions &= bucket.knows_regions;
  Columns columns(timeline, std::max<std::size_t>(1, count));
  if (stream.end_position() <= replayed_events_max)
    take_events(stream, heap.heap, columns);
  else
    take_buckets(stream, heap.heap, count, columns);
  for (const TimelineColumn& column : timeline.columns) {
    timeline.in_use_most = std::max(timeline.in_use_most, column.in_use.most);
    timeline.pool_most = std::max(timeline.pool_most, column.pool.most);
    timeline.largest_free_most = std::max(timeline.largest_free_most, column.largest_free.most);
  }
  for (const FailureEvent& failure : stream.failures())
    if (failure.is_out_of_memory && failure.heap == heap.heap) {
      timeline.failures.push_back(
          {columns.share_of(failure.event, failure.time_ns), failure.event, failure.asked_bytes});
      timeline.asked_most = std::max(timeline.asked_most, failure.asked_bytes);
    }
  if (const HeapPeak peak = stream.peak(heap.heap); peak.in_use_bytes > 0)
    timeline.peak = {columns.share_of(peak.position, peak.time_ns), peak.position, peak.in_use_bytes};
  return timeline;
}

double TimelineColumns::column_of(std::uint64_t position) const {
  for (const TimelineMark& failure : failures)
    if (failure.position == position) return failure.at;
  if (peak && peak->position == position) return peak->at;
  const auto found = std::lower_bound(columns.begin(), columns.end(), position,
                                      [](const TimelineColumn& one, std::uint64_t at) { return one.position < at; });
  return (static_cast<double>(found - columns.begin()) + 0.5) / static_cast<double>(columns.size());
}

std::string TimelineColumns::text_at(double at) const {
  const auto since = static_cast<std::int64_t>(at * static_cast<double>(end - begin));
  return has_times ? text_from_moment_ns(since) : "event " + text_from_count(since);
}

std::vector<AxisTick> ticks_of(const TimelineColumns& timeline, int most) {
  std::vector<AxisTick> ticks;
  const auto range = static_cast<double>(timeline.end - timeline.begin);
  if (range <= 0) return ticks;
  const double step = std::max(1.0, nice_step(range, most));
  for (double at = 0; at <= range; at += step) {
    const auto value = static_cast<std::int64_t>(std::llround(at));
    ticks.push_back({at / range, timeline.has_times ? tick_text(value, step) : text_from_count(value)});
  }
  return ticks;
}

}  // namespace hbmscope::gui
