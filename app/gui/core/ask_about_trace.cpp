// The questions that only a trace can answer: what lives at the moment, where it lies, how it came to that.
#include "app/gui/core/ask.h"

namespace hbmscope::gui {
namespace {

// More than any window has pixels, and few enough to be worked out at once.
constexpr std::size_t timeline_columns = 2048;

}  // namespace

void App::Impl::ask_moment(const Source& source) {
  const std::string& at = state.position().at;
  ask<TraceMoment>(slot_moment, &Answers::moment, {0, source.id, SourceId::none, {}, {}, at},
                   [trace = source.trace, at](const auto&) -> Result<Computed<TraceMoment>> {
                     auto found = find_moment(*trace, at);
                     if (!found) return Failure(found.error());
                     auto moment = std::make_shared<TraceMoment>();
                     moment->trace = trace;
                     moment->moment = std::move(*found);
                     moment->states = compute_states(*trace, moment->moment);
                     std::size_t bytes = 4096;
                     for (const StreamState& one : moment->states) bytes += one.slot_count() * 128;
                     return Computed<TraceMoment>{std::move(moment), bytes};
                   });
}

void App::Impl::ask_heap_map() {
  if (const auto& map = state.answers().heap_map.value) state.line_colors.add(map->pieces.colors.files());
  const Answer<TraceMoment>& moment = state.answers().moment;
  if (moment.state != AnswerState::ready || !state.source() || !state.source()->trace) return;
  const ViewPosition& position = state.position();
  const HeapKey heap = choose_heap(*moment.value->trace, position.heap);
  if (heap.empty()) return;
  const HeapColoring coloring = position.coloring;
  ask<HeapMapAnswer>(static_cast<int>(Question::heap_map), &Answers::heap_map,
                     {0,
                      position.source,
                      SourceId::none,
                      {},
                      text_from_heap_key(heap) + " " + std::string(text_from_coloring(coloring)),
                      position.at},
                     [moment = moment.value, heap, coloring,
                      colors = state.line_colors](const auto&) -> Result<Computed<HeapMapAnswer>> {
                       auto answer = std::make_shared<HeapMapAnswer>();
                       answer->moment = moment;
                       answer->heap = heap;
                       answer->pieces = compute_heap_pieces(moment->stream(heap), moment->state_of(heap), heap.heap,
                                                            coloring, colors);
                       const std::size_t bytes = answer->pieces.memory_bytes();
                       return Computed<HeapMapAnswer>{std::move(answer), bytes};
                     });
}

void App::Impl::ask_timeline() {
  const Source* source = state.source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  const HeapKey heap = choose_heap(*source->trace, state.position().heap);
  if (heap.empty()) return;
  const auto ask_columns = [&](int slot, Answer<TimelineColumns> Answers::*answer, TimelineSpan span,
                               std::size_t columns, TimelineEffort effort) {
    const std::string detail = text_from_heap_key(heap) + " " + text_from_span(span) + " " + std::to_string(columns);
    ask<TimelineColumns>(slot, answer, {0, source->id, SourceId::none, {}, detail},
                         [trace = source->trace, heap, span, columns,
                          effort](const std::atomic<bool>& cancelled) -> Result<Computed<TimelineColumns>> {
                           auto made = compute_timeline_columns(trace->streams[heap.stream], heap, span, columns,
                                                                effort, cancelled);
                           if (!made) return Failure(cancelled_error());
                           auto timeline = std::make_shared<const TimelineColumns>(std::move(*made));
                           const std::size_t bytes = timeline->columns.size() * sizeof(TimelineColumn);
                           return Computed<TimelineColumns>{std::move(timeline), bytes};
                         });
  };
  ask_columns(static_cast<int>(Question::timeline), &Answers::timeline, {}, timeline_columns, TimelineEffort::quick);
  if (const std::size_t width = state.context().timeline_width; width > 0)
    ask_columns(slot_timeline_part, &Answers::timeline_part, state.position().span, width, TimelineEffort::exact);
}

void App::Impl::ask_range() {
  const Source* source = state.source();
  const TimeRange& range = state.position().range;
  if (source == nullptr || source->state != AnswerState::ready || !source->trace || range.empty())
    return forget(static_cast<int>(Question::range), &Answers::range);
  ask<RangeAnswer>(static_cast<int>(Question::range), &Answers::range,
                   {0, source->id, SourceId::none, {}, range.from + " " + range.to},
                   [trace = source->trace, range](Work& work) -> Result<Computed<RangeAnswer>> {
                     auto found = find_range(*trace, range.from, range.to);
                     if (!found) return Failure(found.error());
                     const auto from = compute_states(*trace, found->from), to = compute_states(*trace, found->to);
                     auto summary = compute_range_summary(*trace, from, to, &work);
                     if (!summary) return Failure(cancelled_error());
                     auto answer = std::make_shared<RangeAnswer>();
                     answer->range = range;
                     answer->trace = trace;
                     answer->from = std::move(found->from);
                     answer->to = std::move(found->to);
                     for (const StreamState& state : from) answer->from_ns.push_back(state.time_ns());
                     for (const StreamState& state : to) answer->to_ns.push_back(state.time_ns());
                     answer->summary = std::move(*summary);
                     const std::size_t bytes = 4096 + answer->summary.stacks.size() * sizeof(RangeStackRow) +
                                               answer->summary.own_code.size() * (sizeof(RangeOwnRow) + 64);
                     return Computed<RangeAnswer>{std::move(answer), bytes};
                   });
}

}  // namespace hbmscope::gui
