#include "analysis/query/trace_series.h"

#include <algorithm>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

// Of all streams together, whose clocks are one (trace/clock_table.h tells where they are not; a picture of a few
// characters does not show the difference).
struct Span {
  std::int64_t begin = 0, end = 0;
  bool is_of_times = true;

  std::int64_t place_of(const TimelineBucket& bucket) const {
    return is_of_times ? bucket.first_time_ns : static_cast<std::int64_t>(bucket.first_position);
  }
  std::size_t stretch_of(const TimelineBucket& bucket, std::size_t stretches) const {
    const double share = static_cast<double>(place_of(bucket) - begin) / (static_cast<double>(end - begin) + 1);
    const double stretch = std::clamp(share, 0.0, 1.0) * static_cast<double>(stretches);
    return std::min(static_cast<std::size_t>(stretch), stretches - 1);
  }
};

Span span_of(const Trace& trace) {
  Span span;
  span.is_of_times =
      std::any_of(trace.streams.begin(), trace.streams.end(), [](const Stream& s) { return s.has_times(); });
  bool is_first = true;
  for (const Stream& stream : trace.streams) {
    if (span.is_of_times && !stream.has_times()) continue;
    const std::int64_t begin = span.is_of_times ? stream.first_time_ns() : 0;
    const std::int64_t end =
        span.is_of_times ? stream.last_time_ns() : static_cast<std::int64_t>(stream.end_position());
    span.begin = is_first ? begin : std::min(span.begin, begin);
    span.end = is_first ? end : std::max(span.end, end);
    is_first = false;
  }
  return span;
}

std::vector<std::uint64_t> curve_of(const std::vector<TimelineBucket>& buckets, const Span& span,
                                    std::size_t stretches) {
  std::vector<std::uint64_t> curve(stretches);
  std::size_t at = 0;
  std::uint64_t now = 0;
  const auto go_to = [&](std::size_t stretch) {
    while (at < stretch) curve[++at] = now;
  };
  for (const TimelineBucket& bucket : buckets) {
    go_to(span.stretch_of(bucket, stretches));
    curve[at] = std::max(curve[at], bucket.most.in_use);
    now = bucket.last.in_use;
  }
  go_to(stretches - 1);
  return curve;
}

}  // namespace

TraceSeriesPoint compute_trace_series_point(const Trace& trace, std::size_t curve_stretches) {
  TraceSeriesPoint point;
  point.file = trace.files.empty() ? "" : trace.files.front();
  point.begun_ms = trace.begun_ms;
  point.events = compute_event_counts(trace);
  point.is_finished = trace.import.count_of("not_finished") == 0;
  const Span span = span_of(trace);
  if (span.is_of_times && !trace.streams.empty()) point.duration_ns = span.end - span.begin;
  const auto counted = find_counted_heaps(trace);
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    for (const HeapInfo& info : stream.definitions().heaps()) {
      const Timeline& timeline = stream.timeline(info.id);
      if (!counted[i][info.id] || timeline.empty()) continue;
      const auto buckets = timeline.buckets(0, stream.end_position(), curve_stretches * 4);
      const HeapPeak peak = stream.peak(info.id);
      SeriesHeap& heap = point.heaps.emplace_back();
      heap.label = labels[i][info.id];
      heap.layer = text_from_layer(info.layer);
      if (info.device != wire::no_device) heap.device = info.device;
      heap.peak_in_use_bytes = peak.in_use_bytes;
      heap.in_use_bytes = buckets.back().last.in_use;
      heap.is_peak_inexact = peak.is_inexact;
      heap.curve = curve_of(buckets, span, curve_stretches);
    }
  }
  return point;
}

void sort_trace_series(std::vector<TraceSeriesPoint>& points) {
  const auto is_told = [](const TraceSeriesPoint& point) { return point.begun_ms != 0; };
  if (!std::all_of(points.begin(), points.end(), is_told)) return;
  std::stable_sort(points.begin(), points.end(),
                   [](const TraceSeriesPoint& a, const TraceSeriesPoint& b) { return a.begun_ms < b.begun_ms; });
}

}  // namespace hbmscope
