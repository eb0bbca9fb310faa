#include "app/gui/core/marked_span.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "analysis/query/marked_spans.h"
#include "analysis/query/steps.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

struct Found {
  const Mark* begin = nullptr;
  std::uint64_t end_event = 0;
  std::int64_t end_ns = 0;
  int depth = 0;
};

// In the order of their beginnings, outer ones first.
std::vector<Found> find_spans(const Stream& stream) {
  std::vector<Found> spans;
  for_each_marked_span(
      stream,
      [&](const Mark& begin, const Mark* end, int depth) {
        spans.push_back({&begin, end != nullptr ? end->event : stream.end_position(),
                         end != nullptr ? end->time_ns : stream.last_time_ns(), depth});
      },
      [](const Mark&) {});
  std::stable_sort(spans.begin(), spans.end(), [](const Found& a, const Found& b) {
    return std::tuple(a.begin->time_ns, a.begin->event, a.depth) <
           std::tuple(b.begin->time_ns, b.begin->event, b.depth);
  });
  return spans;
}

TimeRange range_of(const Trace& trace, std::size_t number, const Found& span) {
  const Stream& stream = trace.streams[number];
  const auto at = [&](std::int64_t time_ns) {
    return stream.has_times() ? std::optional(stream.since_start_ns(time_ns)) : std::nullopt;
  };
  return {{trace, number, span.begin->event, at(span.begin->time_ns)},
          {trace, number, span.end_event, at(span.end_ns)}};
}

// A zoomed timeline keeps its scale where the span has room in it and can be seen.
void show(AppState& state, const Trace& trace, std::size_t number, const Found& found) {
  const Stream& stream = trace.streams[number];
  ViewPosition& position = state.context().position;
  position.range = range_of(trace, number, found);
  position.at = position.range.from;
  TimelineSpan& seen = position.span;
  const TimelineSpan span{axis_of(stream, found.begin->event, found.begin->time_ns),
                          axis_of(stream, found.end_event, found.end_ns)};
  constexpr std::int64_t share_seen = 60, share_shown = 4;
  const std::int64_t whole = seen.empty() ? whole_span_of(stream).length() : seen.length();
  const bool is_short = span.length() < whole / share_seen;
  if (!is_short && (seen.empty() || (span.begin >= seen.begin && span.end <= seen.end))) return;
  const std::int64_t length = is_short ? std::max<std::int64_t>(1, span.length()) * share_shown
                                       : std::max(whole, span.length() + span.length() / 4 + 1);
  const std::int64_t begin = std::max<std::int64_t>(0, span.begin - (length - span.length()) / 2);
  seen = {begin, begin + length};
}

}  // namespace

void show_marked_span(AppState& state, const MarkPlace& place) {
  const Source* source = state.source();
  if (source == nullptr || !source->trace || place.stream >= source->trace->streams.size()) return;
  const Trace& trace = *source->trace;
  const Stream& stream = trace.streams[place.stream];
  if (place.mark >= stream.marks().size()) return;
  const Mark* const mark = &stream.marks()[place.mark];
  for (const Found& one : find_spans(stream))
    if (one.begin == mark) return show(state, trace, place.stream, one);
  state.context().position.at = {trace, place.stream, mark->event};
}

std::vector<MarkerOffer> offer_markers(const AppState& state, const Trace& trace, std::string_view typed,
                                       std::size_t most) {
  const auto now = drawn_moment(state);
  std::span<const std::uint64_t> positions;
  if (now != nullptr && now->trace.get() == &trace) positions = now->moment.positions;
  const auto markers = find_markers(trace, typed, most, positions, choose_heap(trace, state.position().heap).stream);
  std::vector<std::string> streams;
  if (trace.streams.size() > 1 && !markers.empty()) streams = find_stream_names(trace);
  std::vector<MarkerOffer> offers;
  for (const NamedMarker& marker : markers) {
    std::string words(marker.name);
    if (marker.count > 1)
      words += fmt::format(", {} of {}", text_from_count(marker.number), text_from_count(marker.count));
    if (marker.stream < streams.size()) words += ", " + streams[marker.stream];
    offers.push_back({std::move(words), marker.count > 1, {marker.stream, marker.index}});
  }
  return offers;
}

std::string name_of_marked_range(const Trace& trace, std::size_t stream, const TimeRange& range) {
  for (const Found& one : find_spans(trace.streams[stream]))
    if (range_of(trace, stream, one) == range)
      return std::string(trace.streams[stream].definitions().text(one.begin->name));
  return {};
}

void go_to_marked_span(AppState& state, bool forward) {
  const auto moment = ready_moment(state);
  if (moment == nullptr) return;
  const Trace& trace = *moment->trace;
  const HeapKey heap = choose_heap(trace, state.position().heap);
  const Stream& stream = trace.streams[heap.stream];
  const std::vector<Found> spans = find_spans(stream);
  if (spans.empty()) {
    state.window.notice = "The program marked no spans (NVTX, annotations).";
    return;
  }
  const TimeRange& range = state.position().range;
  const SpanNames names(stream);
  const auto is_selected = [&](const Found& one) { return range_of(trace, heap.stream, one) == range; };
  const auto selected = range.empty() ? spans.end() : std::find_if(spans.begin(), spans.end(), is_selected);
  // The nearest one of a part of them.
  const auto nearest = [&](auto begin, auto end, const auto& is_wanted) -> const Found* {
    if (forward) {
      const auto found = std::find_if(begin, end, is_wanted);
      return found == end ? nullptr : &*found;
    }
    const auto behind = std::make_reverse_iterator(begin);
    const auto found = std::find_if(std::make_reverse_iterator(end), behind, is_wanted);
    return found == behind ? nullptr : &*found;
  };
  const Found* next = nullptr;
  if (selected != spans.end()) {
    const std::string& name = names.of(*selected->begin);
    next = nearest(forward ? selected + 1 : spans.begin(), forward ? spans.end() : selected,
                   [&](const Found& one) { return names.of(*one.begin) == name; });
    if (next == nullptr)
      state.window.notice = (forward ? "This is the last span named " : "This is the first span named ") + name + ".";
  } else {
    const std::uint64_t now = moment->position(heap);
    next = nearest(spans.begin(), spans.end(), [&](const Found& one) {
      return one.depth == 0 && (forward ? one.begin->event >= now : one.begin->event < now);
    });
    if (next == nullptr) state.window.notice = forward ? "No span begins later." : "No span begins earlier.";
  }
  if (next != nullptr) show(state, trace, heap.stream, *next);
}

}  // namespace hbmscope::gui
