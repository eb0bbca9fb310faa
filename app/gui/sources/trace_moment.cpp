#include "app/gui/sources/trace_moment.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "analysis/trace/layers.h"
#include "analysis/units/format.h"

namespace hbmscope::gui {

std::string text_from_heap_key(HeapKey key) {
  return fmt::format("{}:{}", key.stream + 1, key.heap);
}

std::optional<HeapKey> parse_heap_key(std::string_view text) {
  HeapKey key;
  const char* end = text.data() + text.size();
  const auto stream = std::from_chars(text.data(), end, key.stream);
  if (stream.ec != std::errc() || stream.ptr == end || *stream.ptr != ':' || key.stream == 0) return std::nullopt;
  const auto heap = std::from_chars(stream.ptr + 1, end, key.heap);
  if (heap.ec != std::errc() || heap.ptr != end) return std::nullopt;
  --key.stream;
  return key;
}

const FailureEvent* TraceMoment::failure(HeapKey key) const {
  const auto& failures = stream(key).failures();
  const std::size_t count = failures_until(stream(key), position(key));
  if (count == 0 || failures[count - 1].event != position(key)) return nullptr;
  const FailureEvent& next = failures[count - 1];
  const bool is_elsewhere = moment.since_start_ns && *moment.since_start_ns != stream(key).since_start_ns(next.time_ns);
  return is_elsewhere ? nullptr : &next;
}

namespace {

// Two streams belong to the same process if both name the same one.
bool is_same_process(const Trace& trace, std::size_t a, std::size_t b) {
  if (a == b) return true;
  const Definitions &one = trace.streams[a].definitions(), &other = trace.streams[b].definitions();
  const std::string_view pid = one.job_fact("pid");
  return !pid.empty() && pid == other.job_fact("pid") && one.job_fact("host") == other.job_fact("host");
}

}  // namespace

std::vector<LayerChoice> layers_of(const Trace& trace, HeapKey shown) {
  const HeapInfo& of = trace.streams[shown.stream].definitions().heap(shown.heap);
  std::vector<LayerChoice> layers;
  const auto peak_of = [&](HeapKey key) { return trace.streams[key.stream].peak(key.heap).in_use_bytes; };
  for (const NamedHeap& heap : heaps_of(trace)) {
    const HeapInfo& info = trace.streams[heap.key.stream].definitions().heap(heap.key.heap);
    if (info.device != of.device || !is_same_process(trace, shown.stream, heap.key.stream)) continue;
    const auto known =
        std::find_if(layers.begin(), layers.end(), [&](const LayerChoice& one) { return one.layer == info.layer; });
    if (known == layers.end())
      layers.push_back({info.layer, heap.key});
    else if (heap.key == shown || (known->heap != shown && peak_of(heap.key) > peak_of(known->heap)))
      known->heap = heap.key;
  }
  std::sort(layers.begin(), layers.end(), [](const LayerChoice& a, const LayerChoice& b) { return a.layer < b.layer; });
  return layers;
}

std::string_view title_of(wire::Layer layer) {
  switch (layer) {
    case wire::Layer::physical: return "Driver";
    case wire::Layer::pool: return "Pool";
    case wire::Layer::chunk: return "Chunks";
    case wire::Layer::framework: return "Framework";
    case wire::Layer::program: return "Program";
  }
  return "?";
}

bool has_failures(const Trace& trace) {
  for (const Stream& stream : trace.streams)
    if (stream.counts().failed_requests > 0) return true;
  return false;
}

MomentName opening_moment(const Trace& trace) {
  if (has_failures(trace)) {
    // The earliest failure of all streams; usually only one stream has any.
    std::size_t stream = trace.streams.size();
    const FailureEvent* first = nullptr;
    for (std::size_t i = 0; i < trace.streams.size(); ++i)
      for (const FailureEvent& failure : trace.streams[i].failures()) {
        if (!failure.is_out_of_memory || is_of_extra_pool(trace.streams[i], failure)) continue;
        if (first == nullptr || failure.time_ns < first->time_ns) {
          first = &failure;
          stream = i;
        }
        break;
      }
    if (first != nullptr) {
      const auto last = find_moment(trace, "oom");
      if (last && last->positions[stream] == first->event) return MomentName("oom");
      return {trace, stream, first->event};
    }
  }
  return peak_moment(trace, choose_heap(trace, {}));
}

MomentName peak_moment(const Trace& trace, HeapKey heap) {
  const auto highest = find_moment(trace, "peak");
  if (!highest) return {};
  if (heap.empty()) return MomentName("peak");
  const HeapPeak peak = trace.streams[heap.stream].peak(heap.heap);
  if (peak.in_use_bytes == 0 || highest->positions[heap.stream] == peak.position) return MomentName("peak");
  return {trace, heap.stream, peak.position};
}

std::size_t failures_until(const Stream& stream, std::uint64_t position) {
  const auto& failures = stream.failures();
  const auto after = std::upper_bound(failures.begin(), failures.end(), position,
                                      [](std::uint64_t at, const FailureEvent& one) { return at < one.event; });
  return static_cast<std::size_t>(after - failures.begin());
}

std::optional<std::uint64_t> next_failure(const Stream& stream, std::uint64_t position) {
  for (const FailureEvent& failure : stream.failures())
    if (failure.is_out_of_memory && failure.event > position) return failure.event;
  return std::nullopt;
}

std::optional<std::uint64_t> previous_failure(const Stream& stream, std::uint64_t position) {
  std::optional<std::uint64_t> found;
  for (const FailureEvent& failure : stream.failures())
    if (failure.is_out_of_memory && failure.event < position) found = failure.event;
  return found;
}

}  // namespace hbmscope::gui
