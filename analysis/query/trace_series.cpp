#include "analysis/query/trace_series.h"

#include <algorithm>

#include "analysis/model/clamped.h"
#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/pass.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

// Of all streams together, whose clocks are one (trace/clock_table.h tells where they are not; a picture of a few
// characters does not show the difference).
struct Span {
  std::int64_t begin = 0, end = 0;
  bool is_of_times = true;

  std::size_t stretch_of(std::uint64_t position, std::int64_t time_ns, std::size_t stretches) const {
    const std::int64_t place = is_of_times ? time_ns : static_cast<std::int64_t>(position);
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

class Curve {
 public:
  explicit Curve(std::size_t stretches) : highest_(stretches) {}
  std::size_t size() const { return highest_.size(); }
  // From this stretch on, which is not before the last one.
  void add(std::size_t stretch, std::uint64_t in_use) {
    go_to(std::max(stretch, at_));
    highest_[at_] = std::max(highest_[at_], in_use);
    now_ = in_use;
  }
  std::vector<std::uint64_t> finish() {
    go_to(size() - 1);
    return std::move(highest_);
  }

 private:
  void go_to(std::size_t stretch) {
    while (at_ < stretch) highest_[++at_] = now_;
  }
  std::vector<std::uint64_t> highest_;
  std::size_t at_ = 0;
  std::uint64_t now_ = 0;
};

// Event by event.
std::vector<Curve> curves_of_events(const Stream& stream, const Span& span, std::size_t stretches) {
  std::vector<Curve> curves(stream.definitions().heaps().size(), Curve(stretches));
  pass_over_states(stream, stream.end_position(), nullptr,
                   [&](const StreamState& state, std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
                     curves[heap].add(span.stretch_of(position, time_ns, stretches), state.in_use_bytes(heap));
                   });
  return curves;
}

// Of a stream that keeps curves alone. What was highest in a bucket of them may have been anywhere in it.
std::vector<Curve> curves_of_buckets(const Stream& stream, const Span& span, std::size_t stretches) {
  std::vector<Curve> curves(stream.definitions().heaps().size(), Curve(stretches));
  for (std::uint32_t heap = 1; heap < curves.size(); ++heap) {
    const Timeline& timeline = stream.timeline(heap);
    std::uint64_t before = 0;
    for (const TimelineBucket& bucket : timeline.buckets(0, stream.end_position(), timeline.changes())) {
      const std::size_t stretch = span.stretch_of(bucket.first_position, bucket.first_time_ns, stretches);
      curves[heap].add(stretch, before);
      curves[heap].add(stretch, bucket.most.in_use);
      before = bucket.most.in_use;
    }
  }
  return curves;
}

}  // namespace

TraceSeriesPoint compute_trace_series_point(const Trace& trace, std::size_t curve_stretches) {
  TraceSeriesPoint point;
  point.file = trace.files.empty() ? "" : trace.files.front();
  point.begun_ms = trace.begun_ms;
  point.events = compute_event_counts(trace);
  point.is_finished = trace.import.count_of("not_finished") == 0;
  const Span span = span_of(trace);
  if (span.is_of_times && !trace.streams.empty()) point.duration_ns = clamped_difference(span.end, span.begin);
  const auto counted = find_counted_heaps(trace);
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    const bool has_events = stream.blocks().size() > 0;
    std::vector<Curve> curves =
        has_events ? curves_of_events(stream, span, curve_stretches) : curves_of_buckets(stream, span, curve_stretches);
    for (const HeapInfo& info : stream.definitions().heaps()) {
      const Timeline& timeline = stream.timeline(info.id);
      if (!counted[i][info.id] || timeline.empty()) continue;
      const HeapPeak peak = stream.peak(info.id);
      SeriesHeap& heap = point.heaps.emplace_back();
      heap.label = labels[i][info.id];
      heap.layer = text_from_layer(info.layer);
      if (info.device != wire::no_device) heap.device = info.device;
      heap.peak_in_use_bytes = peak.in_use_bytes;
      heap.in_use_bytes = timeline.buckets(stream.end_position(), stream.end_position(), 1).back().last.in_use;
      heap.is_peak_inexact = peak.is_inexact;
      heap.curve = curves[info.id].finish();
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
