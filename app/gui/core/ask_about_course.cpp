// The questions about the course of a trace: how its figures went, what came and went in a range, what is free, why a
// request failed, how large and how old blocks are.
#include <algorithm>

#include "app/gui/core/ask.h"
#include "app/gui/core/piece_text.h"

namespace hbmscope::gui {
namespace {

// More than any window has pixels, and few enough to be worked out at once.
constexpr std::size_t timeline_columns = 2048;
constexpr auto span_rest = std::chrono::milliseconds(120);
// More than can be told apart in the ruler, and in the list of what moved it most.
constexpr std::size_t free_pieces_max = 4096, scatter_steps_max = 12;

// The out-of-memory of the heap at the position, else the last one before it, else the first one.
std::optional<std::size_t> find_failure(const Stream& stream, std::uint32_t heap, std::uint64_t position) {
  const auto& failures = stream.failures();
  const auto is_one = [&](std::size_t i) { return failures[i].is_out_of_memory && failures[i].heap == heap; };
  const std::size_t middle = failures_until(stream, position);
  for (std::size_t i = middle; i-- > 0;)
    if (is_one(i)) return i;
  for (std::size_t i = middle; i < failures.size(); ++i)
    if (is_one(i)) return i;
  return std::nullopt;
}

// Where no heap ever held anything: the stream of which somebody tells figures all the same. Its heap is none.
std::optional<HeapKey> find_counters(const Trace& trace) {
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    if (!trace.streams[i].counters().series().empty()) return HeapKey{static_cast<std::uint32_t>(i), 0};
  return std::nullopt;
}

}  // namespace

// While a hand moves the timeline, each frame shows another stretch: replaying all of it for each would take the
// processor from the frames. The exact answer is asked for when the stretch has rested.
TimelineEffort App::Impl::effort_of_span(const Stream& stream) {
  using Clock = std::chrono::steady_clock;
  const TimelineSpan& span = state.position().span;
  if (span != side().span_seen) {
    side().span_seen = span;
    side().span_seen_at = Clock::now();
  }
  const StreamPositions positions = positions_of(stream, span.empty() ? whole_span_of(stream) : span);
  side().waits_for_rest =
      !is_exact(TimelineEffort::at_once, positions) && Clock::now() - side().span_seen_at < span_rest && !span.empty();
  return side().waits_for_rest ? TimelineEffort::at_once : TimelineEffort::exact;
}

void App::Impl::ask_timeline() {
  const Source* source = state.source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  HeapKey heap = choose_heap(*source->trace, state.position().heap);
  if (heap.empty()) {
    const auto counters = find_counters(*source->trace);
    if (!counters) return;
    heap = *counters;
  }
  const auto ask_columns = [&](int slot, Answer<TimelineColumns> Answers::*answer, TimelineSpan span,
                               std::size_t columns, TimelineEffort effort) {
    const std::string detail = text_from_heap_key(heap) + " " + std::to_string(span.begin) + "-" +
                               std::to_string(span.end) + " " + std::to_string(columns) +
                               (effort == TimelineEffort::at_once ? " at once" : "");
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
  // Of a file that is still being read, a pass over all events would be made anew for every part.
  const TimelineEffort effort =
      source->is_part() ? TimelineEffort::at_once : effort_of_span(source->trace->streams[heap.stream]);
  if (const std::size_t width = state.context().timeline_width; width > 0)
    ask_columns(slot_timeline_part, &Answers::timeline_part, state.position().span, width, effort);
}

void App::Impl::ask_address_time() {
  const Source* source = state.source();
  if (const auto& drawn = state.answers().address_time.value) state.line_colors.add(drawn->colors.files());
  const Context& context = state.context();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace || context.address_time_width == 0)
    return;
  const ViewPosition& position = context.position;
  const HeapKey heap = choose_heap(*source->trace, position.heap);
  if (heap.empty()) return;
  // As the heap map is coloured, where it says so by itself.
  const auto& map = state.answers().heap_map.value;
  const bool is_by_map = position.coloring == HeapColoring::automatic && map != nullptr && map->heap == heap;
  const HeapColoring coloring = box_coloring(is_by_map ? map->pieces.coloring : position.coloring);
  const AddressTimeQuery query{heap,     position.span,     context.address_time_width, context.address_time_height,
                               coloring, position.addresses};
  const std::string detail = text_from_heap_key(heap) + " " + std::to_string(query.span.begin) + "-" +
                             std::to_string(query.span.end) + " " + std::to_string(query.width) + "x" +
                             std::to_string(query.height) + " " + std::string(text_from_coloring(query.coloring)) +
                             " " + address_text(query.addresses.begin) + "-" + address_text(query.addresses.end);
  ask<AddressTime>(
      static_cast<int>(Question::address_time), &Answers::address_time, {0, source->id, SourceId::none, {}, detail},
      [trace = source->trace, query, colors = state.line_colors](Work& work) -> Result<Computed<AddressTime>> {
        auto made = compute_address_time(trace->streams[query.heap.stream], query, colors, &work);
        if (!made) return Failure(cancelled_error());
        auto picture = std::make_shared<const AddressTime>(std::move(*made));
        const std::size_t bytes = picture->memory_bytes();
        return Computed<AddressTime>{std::move(picture), bytes};
      });
}

void App::Impl::ask_range() {
  const Source* source = state.source();
  const TimeRange& range = state.position().range;
  if (source == nullptr || source->state != AnswerState::ready || !source->trace || range.empty())
    return forget(static_cast<int>(Question::range), &Answers::range);
  ask<RangeAnswer>(static_cast<int>(Question::range), &Answers::range,
                   {0, source->id, SourceId::none, {}, range.from.text() + " " + range.to.text()},
                   [trace = source->trace, range](Work& work) -> Result<Computed<RangeAnswer>> {
                     auto begin = range.from.find_in(*trace), end = range.to.find_in(*trace);
                     if (!begin) return Failure(begin.error());
                     if (!end) return Failure(end.error());
                     auto found = range_between(std::move(*begin), std::move(*end));
                     if (!found) return Failure(found.error());
                     const auto from = compute_states(*trace, found->from), to = compute_states(*trace, found->to);
                     auto summary = compute_range_summary(*trace, from, to, &work);
                     if (!summary) return Failure(cancelled_error());
                     auto answer = std::make_shared<RangeAnswer>();
                     answer->range = range;
                     answer->trace = trace;
                     answer->from = std::move(found->from);
                     answer->to = std::move(found->to);
                     for (const StreamState& one : from) answer->from_ns.push_back(one.time_ns());
                     for (const StreamState& one : to) answer->to_ns.push_back(one.time_ns());
                     answer->summary = std::move(*summary);
                     const std::size_t bytes = 4096 + answer->summary.stacks.size() * sizeof(RangeStackRow) +
                                               answer->summary.own_code.size() * (sizeof(RangeOwnRow) + 64);
                     return Computed<RangeAnswer>{std::move(answer), bytes};
                   });
}

void App::Impl::ask_free() {
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const ViewPosition& position = state.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  ask<FreeAnswer>(static_cast<int>(Question::free), &Answers::free,
                  {0, position.source, SourceId::none, {}, text_from_heap_key(heap), position.at},
                  [moment, heap](const auto&) -> Result<Computed<FreeAnswer>> {
                    auto answer = std::make_shared<FreeAnswer>();
                    answer->moment = moment;
                    answer->heap = heap;
                    answer->free = find_free_pieces(moment->heap(heap).space, free_pieces_max);
                    return Computed<FreeAnswer>{std::move(answer), free_pieces_max * sizeof(AddressRange)};
                  });
}

void App::Impl::ask_free_history() {
  const Source* source = state.source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  const HeapKey heap = choose_heap(*source->trace, state.position().heap);
  if (heap.empty()) return;
  // A pass over all events: of a trace that grows, again when it is twice as long.
  const std::uint64_t events = source->trace->streams[heap.stream].end_position();
  if (source->live && state.answers().free_history.value && heap == side().free_history_heap &&
      events < 2 * side().free_history_events)
    return;
  side().free_history_events = events;
  side().free_history_heap = heap;
  ask<FreeHistory>(static_cast<int>(Question::free_history), &Answers::free_history,
                   {0, source->id, SourceId::none, {}, text_from_heap_key(heap)},
                   [trace = source->trace, heap](Work& work) -> Result<Computed<FreeHistory>> {
                     auto history =
                         compute_free_history(trace->streams[heap.stream], heap.heap, scatter_steps_max, &work);
                     if (!history) return Failure(cancelled_error());
                     const std::size_t bytes = 4096 + history->requests.size() * sizeof(LargestRequest);
                     return Computed<FreeHistory>{std::make_shared<const FreeHistory>(std::move(*history)), bytes};
                   });
}

void App::Impl::ask_failure() {
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const Source* source = state.source();
  const HeapKey heap = choose_heap(*source->trace, state.position().heap);
  if (heap.empty()) return;
  const auto found = find_failure(source->trace->streams[heap.stream], heap.heap, moment->position(heap));
  if (!found) return forget(static_cast<int>(Question::failure), &Answers::failure);
  ask<FailureAnswer>(static_cast<int>(Question::failure), &Answers::failure,
                     {0, source->id, SourceId::none, {}, text_from_heap_key(heap) + " " + std::to_string(*found)},
                     [trace = source->trace, heap, found = *found](const auto&) -> Result<Computed<FailureAnswer>> {
                       const Stream& stream = trace->streams[heap.stream];
                       auto answer = std::make_shared<FailureAnswer>();
                       answer->trace = trace;
                       answer->heap = heap;
                       for (std::size_t i = 0; i < stream.failures().size(); ++i) {
                         const FailureEvent& one = stream.failures()[i];
                         if (!one.is_out_of_memory || one.heap != heap.heap) continue;
                         ++answer->of;
                         if (i <= found) ++answer->number;
                       }
                       answer->facts = compute_failure_facts(stream, found);
                       answer->free = find_free_pieces(stream.state_at(answer->facts.event).heap(heap.heap).space,
                                                       free_pieces_max);
                       const std::size_t blocks = answer->facts.place ? answer->facts.place->blocks.size() : 0;
                       return Computed<FailureAnswer>{
                           std::move(answer), free_pieces_max * sizeof(AddressRange) + blocks * sizeof(LiveBlock)};
                     });
}

void App::Impl::ask_sizes() {
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const ViewPosition& position = state.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  ask<SizesAnswer>(static_cast<int>(Question::sizes), &Answers::sizes,
                   {0, position.source, SourceId::none, {}, text_from_heap_key(heap), position.at},
                   [moment, heap](Work& work) -> Result<Computed<SizesAnswer>> {
                     auto all = compute_heap_metrics(*moment->trace, moment->states, {}, &work);
                     if (!all) return Failure(cancelled_error());
                     auto answer = std::make_shared<SizesAnswer>();
                     answer->moment = moment;
                     answer->heap = heap;
                     answer->metrics = std::move((*all)[row_of_heap(*moment->trace, heap)]);
                     return Computed<SizesAnswer>{std::move(answer), sizeof(SizesAnswer)};
                   });
}

}  // namespace hbmscope::gui
