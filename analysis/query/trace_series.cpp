#include "analysis/query/trace_series.h"

#include <algorithm>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/pass.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

// The time span of all streams, assuming a common clock. Where trace/clock_table.h knows better, the difference is too
// small to show in a picture of a few characters.
struct Span {
  std::int64_t begin = 0, end = 0;
  bool is_of_times = true;

  std::size_t stretch_of(std::int64_t place, std::size_t stretches) const {
    const double share = (static_cast<double>(place) - static_cast<double>(begin)) /
                         (static_cast<double>(end) - static_cast<double>(begin) + 1);
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

// By heap. Figures between a loss of events and the next listing are in no peak and in no curve.
std::vector<UseCurve> curves_of(const Stream& stream) {
  std::vector<UseCurve> curves(stream.definitions().heaps().size());
  if (stream.blocks().size() == 0) {
    for (std::uint32_t heap = 1; heap < curves.size(); ++heap) curves[heap] = stream.curve(heap);
    return curves;
  }
  pass_over_states(stream, stream.end_position(), nullptr,
                   [&](const StreamState& state, std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
                     if (state.is_inexact(heap) && !stream.peak(heap).is_inexact) return;
                     const std::int64_t place = stream.has_times() ? time_ns : static_cast<std::int64_t>(position);
                     curves[heap].add(place, state.in_use_bytes(heap));
                   });
  return curves;
}

std::vector<std::uint64_t> stretches_of(const UseCurve& curve, const Span& span, std::size_t count) {
  std::vector<std::uint64_t> highest(count);
  std::size_t end = 0;
  curve.for_each_stretch([&](std::int64_t first, std::int64_t last, std::uint64_t in_use) {
    end = span.stretch_of(last, count) + 1;
    for (std::size_t at = span.stretch_of(first, count); at < end; ++at) highest[at] = std::max(highest[at], in_use);
  });
  std::fill(highest.begin() + static_cast<std::ptrdiff_t>(end), highest.end(), curve.now());
  return highest;
}

}  // namespace

TraceSeriesPoint compute_trace_series_point(const Trace& trace, std::size_t curve_stretches) {
  TraceSeriesPoint point;
  point.file = trace.files.empty() ? "" : trace.files.front();
  point.begun_ms = trace.begun_ms;
  point.events = compute_event_counts(trace);
  point.is_finished = trace.import.count_of("not_finished") == 0 && trace.import.count_of("left_running") == 0;
  const Span span = span_of(trace);
  if (span.is_of_times && !trace.streams.empty()) point.duration_ns = clamped_difference(span.end, span.begin);
  const auto counted = find_counted_heaps(trace);
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    const std::vector<UseCurve> curves = curves_of(stream);
    for (const HeapInfo& info : stream.definitions().heaps()) {
      const HeapPeak peak = stream.peak(info.id);
      if (!counted[i][info.id] || peak.in_use_bytes == 0) continue;
      SeriesHeap& heap = point.heaps.emplace_back();
      heap.label = labels[i][info.id];
      heap.layer = text_from_layer(info.layer);
      if (info.device != wire::no_device) heap.device = info.device;
      heap.peak_in_use_bytes = peak.in_use_bytes;
      heap.in_use_bytes = curves[info.id].now();
      heap.is_peak_inexact = peak.is_inexact;
      heap.curve = stretches_of(curves[info.id], span, curve_stretches);
    }
  }
  return point;
}

void sort_trace_series(std::vector<TraceSeriesPoint>& points) {
  const auto is_reported = [](const TraceSeriesPoint& point) { return point.begun_ms != 0; };
  if (!std::all_of(points.begin(), points.end(), is_reported)) return;
  std::stable_sort(points.begin(), points.end(),
                   [](const TraceSeriesPoint& a, const TraceSeriesPoint& b) { return a.begun_ms < b.begun_ms; });
}

}  // namespace hbmscope
