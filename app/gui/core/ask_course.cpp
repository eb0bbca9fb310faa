// Questions about the history that led to the selected time: figures over time, allocations and releases in a range,
// free memory, why a request failed, sizes and ages of blocks.
#include <algorithm>

#include "analysis/answers/dry_run.h"
#include "analysis/query/steps.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/questions.h"

namespace hbmscope::gui {
namespace {

struct AddressTimeOptions {
  AddressTimeQuery query;
  std::shared_ptr<const TraceColors> colors;
  bool operator==(const AddressTimeOptions&) const = default;
};
struct TimelineOptions {
  HeapKey heap;
  TimelineSpan span;
  std::size_t columns = 0;
  TimelineEffort effort = TimelineEffort::at_once;
  bool operator==(const TimelineOptions&) const = default;
};
struct RangeOptions {
  HeapKey heap;
  bool is_of_all = false;
  TimeRange range;
  bool operator==(const RangeOptions&) const = default;
};
struct CostsOptions {
  HeapKey heap;
  std::uint64_t position = 0;
  bool operator==(const CostsOptions&) const = default;
};
struct FailureOptions {
  HeapKey heap;
  std::size_t index = 0;  // Index among the failures of the stream.
  bool operator==(const FailureOptions&) const = default;
};

// More than the width of any window in pixels, and few enough to compute at once.
constexpr std::size_t timeline_columns = 2048;
constexpr auto span_rest = std::chrono::milliseconds(120);
// More than the ruler and the list of the largest changes can show.
constexpr std::size_t free_blocks_max = 4096, scatter_steps_max = 12;

// If no heap ever held anything: the first stream with counters, with no heap.
std::optional<HeapKey> find_counters(const Trace& trace) {
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    if (!trace.streams[i].counters().series().empty()) return HeapKey{static_cast<std::uint32_t>(i), 0};
  return std::nullopt;
}

// While the user drags the timeline, each frame shows another span. Replaying each of them would take processor time
// from drawing, so the exact answer is computed only when the span has been unchanged for a while.
TimelineEffort effort_of_span(Answering& asking, const Stream& stream) {
  using Clock = std::chrono::steady_clock;
  const TimelineSpan& span = asking.position().span;
  if (span != asking.notes().visible.span) {
    asking.notes().visible.span = span;
    asking.notes().visible.changed_at = Clock::now();
  }
  const StreamPositions positions = positions_of(stream, span.empty() ? whole_span_of(stream) : span);
  asking.notes().visible.waits_for_rest =
      !is_at_once(positions) && Clock::now() - asking.notes().visible.changed_at < span_rest && !span.empty();
  return asking.notes().visible.waits_for_rest ? TimelineEffort::at_once : TimelineEffort::exact;
}

// Evenly over all events; of each column of a small timeline the most and the end, as a short peak would not be hit;
// and after the first failures of the stream.
std::vector<std::uint64_t> positions_for_costs(const Trace& trace, HeapKey heap, const std::atomic<bool>& cancelled) {
  constexpr std::size_t times = 128, columns = 192, failures_max = 16;
  const Stream& stream = trace.streams[heap.stream];
  auto positions = positions_over_time(stream.end_position(), stream.end_position(), times);
  const auto timeline =
      compute_timeline_columns(stream, heap, whole_span_of(stream), columns, TimelineEffort::at_once, cancelled);
  for (std::size_t i = 0; timeline && i < timeline->columns.size(); ++i) {
    positions.push_back(timeline->columns[i].most_position);
    positions.push_back(timeline->columns[i].position);
  }
  for (std::size_t i = 0; i < std::min(failures_max, stream.failures().size()); ++i)
    positions.push_back(stream.failures()[i].event + 1);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

Computed<PoolCostsAnswer> pool_costs_at(const std::shared_ptr<const Trace>& trace, HeapKey heap,
                                        const std::vector<std::uint64_t>& positions, Work& work) {
  auto answer = std::make_shared<PoolCostsAnswer>();
  answer->trace = trace;
  answer->heap = heap;
  auto found = compute_pool_costs(*trace, heap, positions, work);
  if (work.cancelled) return Failure(cancelled_error());
  if (found)
    answer->times = std::move(*found);
  else
    answer->unknown = found.error().what;
  const std::size_t bytes = 4096 + answer->times.size() * 512;
  return {std::move(answer), bytes};
}

// Not of a running job, whose lane would move with each version; its growth is in the answer bar.
void ask_steps(Answering& asking, HeapKey heap) {
  const Source* source = asking.state().source();
  if (source->is_part()) return;
  asking.ask(&Answers::steps, {source->id, heap}, [trace = source->trace, heap](Work&) -> Computed<TraceSteps> {
    const Stream& stream = trace->streams[heap.stream];
    const Steps found = outermost_steps(stream);
    auto answer = std::make_shared<TraceSteps>();
    answer->trace = trace;
    answer->heap = heap;
    const auto use = in_use_at(stream, heap.heap, found.begins);
    for (std::size_t i = 0; i < use.size(); ++i) {
      const Step& one = found.begins[i];
      answer->steps.push_back({one.event, axis_of(stream, one.event, one.time_ns), one.name, use[i]});
    }
    constexpr std::size_t at_start = 1, least_steps = 3;
    for (std::size_t i = at_start; use.size() > least_steps && i < use.size(); ++i)
      answer->leaves_something |= answer->growth_of(i).value_or(0) != 0;
    const std::size_t bytes = sizeof(TraceSteps) + answer->steps.size() * sizeof(TraceStep);
    return {std::move(answer), bytes};
  });
}

struct ByRequestsOptions {
  std::shared_ptr<const TimelineColumns> own;
  HeapKey heap;
  bool operator==(const ByRequestsOptions&) const = default;
};

// On the columns that are shown, since their positions are what is matched.
void ask_overlay_by_requests(Answering& asking, const Overlay& overlay, const Source& other) {
  const auto& part = asking.answers().timeline_part;
  const auto own = part.state == AnswerState::ready ? part.value : asking.answers().timeline.value;
  const Source* source = asking.state().source();
  if (own == nullptr || own->heap.empty()) return;
  asking.ask(
      &Answers::overlay, {other.id, ByRequestsOptions{own, overlay.heap}},
      [trace = source->trace, own, beside = other.trace, heap = overlay.heap](Work& work) -> Computed<TimelineColumns> {
        auto made = compute_columns_by_requests(trace->streams[own->heap.stream], *own, beside->streams[heap.stream],
                                                heap, &work);
        if (!made) return Failure(cancelled_error());
        const std::size_t bytes = made->columns.size() * sizeof(TimelineColumn);
        return {std::make_shared<const TimelineColumns>(std::move(*made)), bytes};
      });
}

}  // namespace

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

FailureNumber number_of_failure(const Stream& stream, std::size_t index) {
  FailureNumber number{0, 0};
  for (std::size_t i = 0; i < stream.failures().size(); ++i) {
    const FailureEvent& one = stream.failures()[i];
    if (!one.is_out_of_memory || one.heap != stream.failures()[index].heap) continue;
    ++number.of;
    if (i <= index) ++number.number;
  }
  return number;
}

void ask_timeline(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  HeapKey heap = choose_heap(*source->trace, asking.position().heap);
  if (heap.empty()) {
    const auto counters = find_counters(*source->trace);
    if (!counters) return;
    heap = *counters;
  }
  const auto ask_columns = [&asking](Answer<TimelineColumns> Answers::*answer, const Source& of, HeapKey key,
                                     TimelineSpan span, std::size_t columns, TimelineEffort effort) {
    asking.ask(answer, {of.id, TimelineOptions{key, span, columns, effort}},
               [trace = of.trace, key, span, columns,
                effort](const std::atomic<bool>& cancelled) -> Computed<TimelineColumns> {
                 auto made =
                     compute_timeline_columns(trace->streams[key.stream], key, span, columns, effort, cancelled);
                 if (!made) return Failure(cancelled_error());
                 auto timeline = std::make_shared<const TimelineColumns>(std::move(*made));
                 const std::size_t bytes = timeline->columns.size() * sizeof(TimelineColumn);
                 return {std::move(timeline), bytes};
               });
  };
  ask_columns(&Answers::timeline, *source, heap, {}, timeline_columns,
              source->is_part() ? TimelineEffort::at_once : TimelineEffort::exact);
  // While a file is being read, each new part would need another pass over all events.
  const TimelineEffort effort =
      source->is_part() ? TimelineEffort::at_once : effort_of_span(asking, source->trace->streams[heap.stream]);
  if (const std::size_t width = asking.state().context().timeline_width; width > 0)
    ask_columns(&Answers::timeline_part, *source, heap, asking.position().span, width, effort);
  ask_stack(asking, heap);
  ask_steps(asking, heap);
  const auto overlay = find_overlay(asking.state());
  const Source* other = overlay ? asking.state().find_source(overlay->source) : nullptr;
  const auto& whole = asking.answers().timeline.value;
  if (other == nullptr || !whole) return asking.forget(&Answers::overlay);
  if (overlay->is_by_requests) return ask_overlay_by_requests(asking, *overlay, *other);
  TimelineSpan seen = asking.position().span.empty() ? whole->whole : asking.position().span;
  seen = {std::max(seen.begin, overlay->shown.begin) + overlay->shift,
          std::min(seen.end, overlay->shown.end) + overlay->shift};
  if (seen.empty()) return asking.forget(&Answers::overlay);
  ask_columns(&Answers::overlay, *other, overlay->heap, seen, timeline_columns, effort);
}

void ask_address_time(Answering& asking) {
  const Source* source = asking.state().source();
  const Context& context = asking.state().context();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace || context.address_time_width == 0)
    return;
  const ViewPosition& position = context.position;
  const HeapKey heap = choose_heap(*source->trace, position.heap);
  if (heap.empty()) return;
  const auto shown = shown_coloring(asking.state());
  if (!shown) return;
  const HeapColoring coloring = box_coloring(*shown, *context.colors);
  const AddressTimeQuery query{heap,     position.span,     context.address_time_width, context.address_time_height,
                               coloring, position.addresses};
  asking.ask(&Answers::address_time, {source->id, AddressTimeOptions{query, context.colors}},
             [trace = source->trace, query, colors = context.colors](Work& work) -> Computed<AddressTime> {
               auto made = compute_address_time(trace->streams[query.heap.stream], query, *colors, &work);
               if (!made) return Failure(cancelled_error());
               auto picture = std::make_shared<const AddressTime>(std::move(*made));
               const std::size_t bytes = picture->memory_bytes();
               return {std::move(picture), bytes};
             });
}

void ask_range(Answering& asking) {
  const Source* source = asking.state().source();
  const TimeRange& range = asking.position().range;
  if (source == nullptr || source->state != AnswerState::ready || !source->trace || range.empty())
    return asking.forget(&Answers::range);
  const HeapKey heap = choose_heap(*source->trace, asking.position().heap);
  const bool is_of_all = asking.position().all_devices || source->devices.size() < 2;
  asking.ask(&Answers::range, {source->id, RangeOptions{heap, is_of_all, range}},
             [trace = source->trace, heap, is_of_all, range](Work& work) -> Computed<RangeAnswer> {
               auto begin = range.from.find_in(*trace), end = range.to.find_in(*trace);
               if (!begin) return Failure(begin.error());
               if (!end) return Failure(end.error());
               auto found = range_between(std::move(*begin), std::move(*end));
               if (!found) return Failure(found.error());
               const auto from = compute_states(*trace, found->from), to = compute_states(*trace, found->to);
               auto summary =
                   compute_range_summary(*trace, from, to, &work, is_of_all ? std::nullopt : std::optional(heap));
               if (!summary) return Failure(cancelled_error());
               auto answer = std::make_shared<RangeAnswer>();
               answer->range = range;
               answer->is_of_all = is_of_all;
               answer->trace = trace;
               answer->from = std::move(found->from);
               answer->to = std::move(found->to);
               for (const StreamState& one : from) answer->from_ns.push_back(one.time_ns());
               for (const StreamState& one : to) answer->to_ns.push_back(one.time_ns());
               answer->summary = std::move(*summary);
               for (const HeapRow& row : answer->summary.heaps_after) {
                 const HeapKey one{static_cast<std::uint32_t>(row.stream), row.heap};
                 const Stream& stream = trace->streams[one.stream];
                 const auto axis_at = [&](const Moment& moment, const std::vector<StreamState>& states) {
                   return axis_of(stream, moment.positions[one.stream], states[one.stream].time_ns());
                 };
                 const TimelineSpan span{axis_at(answer->from, from), axis_at(answer->to, to) + 1};
                 // That of the shown heap is exact; the others take no pass each.
                 const TimelineEffort effort = one == heap ? TimelineEffort::exact : TimelineEffort::at_once;
                 const auto columns = compute_timeline_columns(stream, one, span, 1, effort, work.cancelled);
                 if (!columns) return Failure(cancelled_error());
                 if (one == heap) answer->shown = answer->most.size();
                 answer->most.push_back({columns->columns.front().in_use.most, columns->columns.front().most_position});
               }
               const std::size_t bytes = 4096 + answer->summary.stacks.size() * sizeof(RangeStackRow) +
                                         answer->summary.user_code.size() * (sizeof(RangeOwnRow) + 64);
               return {std::move(answer), bytes};
             });
}

void ask_free(Answering& asking) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const ViewPosition& position = asking.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  asking.ask(&Answers::free, {position.source, heap, position.at}, [moment, heap](const auto&) -> Computed<FreeAnswer> {
    auto answer = std::make_shared<FreeAnswer>();
    answer->moment = moment;
    answer->heap = heap;
    answer->free = find_free_blocks(moment->heap(heap).space, free_blocks_max);
    const DeviceTime time{heap.stream, heap.heap, moment->position(heap), std::nullopt, {}};
    if (const auto budget = find_device_budget(*moment->trace, moment->states, time))
      answer->device = std::make_shared<const Document>(describe_device_budget(*budget));
    return {std::move(answer), free_blocks_max * sizeof(AddressRange)};
  });
}

void ask_free_history(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  const HeapKey heap = choose_heap(*source->trace, asking.position().heap);
  if (heap.empty()) return;
  // This is a pass over all events, so for a growing trace it is repeated only when the trace has doubled.
  const std::uint64_t events = source->trace->streams[heap.stream].end_position();
  if (source->live && asking.answers().free_history.value && heap == asking.notes().free_history_heap &&
      events < 2 * asking.notes().answered_events.free_history)
    return;
  asking.notes().answered_events.free_history = events;
  asking.notes().free_history_heap = heap;
  asking.ask(&Answers::free_history, {source->id, heap},
             [trace = source->trace, heap](Work& work) -> Computed<FreeHistory> {
               auto history = compute_free_history(trace->streams[heap.stream], heap.heap, scatter_steps_max, &work);
               if (!history) return Failure(cancelled_error());
               const std::size_t bytes = 4096 + history->requests.size() * sizeof(LargestRequest);
               return {std::make_shared<const FreeHistory>(std::move(*history)), bytes};
             });
}

void ask_pool_costs(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || source->state != AnswerState::ready || !source->trace) return;
  if (source->is_part() && !source->live) return;
  const HeapKey heap = choose_heap(*source->trace, asking.position().heap);
  if (heap.empty()) return;
  // It replays all requests, so for a growing trace it is repeated only when the trace has doubled.
  const std::uint64_t events = source->trace->streams[heap.stream].end_position();
  const auto& known = asking.answers().pool_costs.value;
  if (source->live && known && known->heap == heap && events < 2 * asking.notes().answered_events.pool_costs) return;
  asking.notes().answered_events.pool_costs = events;
  asking.ask(&Answers::pool_costs, {source->id, heap}, [trace = source->trace, heap](Work& work) {
    return pool_costs_at(trace, heap, positions_for_costs(*trace, heap, work.cancelled), work);
  });
}

// The figures beside the cursor are exact. For a running job that is followed each version would be another replay of
// everything; it has those of the picture's last time, which the view names.
void ask_pool_costs_here(Answering& asking) {
  const Source* source = asking.state().source();
  const auto moment = ready_moment(asking.state());
  const auto& course = asking.answers().pool_costs.value;
  if (moment == nullptr || source == nullptr) return;
  const bool follows = source->live && asking.position().is_at_end();
  if (follows || !course || course->times.empty()) return asking.forget(&Answers::pool_costs_here);
  const HeapKey heap = choose_heap(*moment->trace, asking.position().heap);
  if (heap.empty()) return;
  const std::uint64_t position = moment->position(heap);
  asking.ask(
      &Answers::pool_costs_here, {source->id, CostsOptions{heap, position}},
      [trace = moment->trace, heap, position](Work& work) { return pool_costs_at(trace, heap, {position}, work); });
}

void ask_failure(Answering& asking) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const Source* source = asking.state().source();
  const HeapKey heap = choose_heap(*source->trace, asking.position().heap);
  if (heap.empty()) return;
  const auto found = find_failure(source->trace->streams[heap.stream], heap.heap, moment->position(heap));
  if (!found) return asking.forget(&Answers::failure);
  // The answer bar is about the same failure in most cases, and comes first.
  const Answer<HeadlineAnswer>& headline = asking.answers().headline;
  if (headline.pending() && headline.key.source == source->id) return;
  std::shared_ptr<const GatheredFacts> known;
  if (headline.value && headline.value->trace == source->trace && headline.value->facts &&
      headline.value->facts->diagnosis.stream == heap.stream && headline.value->facts->diagnosis.index == *found)
    known = headline.value->facts;
  asking.ask(&Answers::failure, {source->id, FailureOptions{heap, *found}},
             [trace = source->trace, heap, found = *found, known](Work& work) -> Computed<FailureAnswer> {
               const Stream& stream = trace->streams[heap.stream];
               auto answer = std::make_shared<FailureAnswer>();
               answer->trace = trace;
               answer->heap = heap;
               const FailureNumber number = number_of_failure(stream, found);
               answer->number = number.number;
               answer->of = number.of;
               const Diagnosis diagnosis = known ? conclude(*trace, *known, Depth::full, &work)
                                                 : diagnose(*trace, {heap.stream, found}, Depth::full, &work);
               answer->event = diagnosis.facts.event;
               answer->requested_bytes = diagnosis.facts.requested_bytes;
               answer->log_line = diagnosis.facts.log_line;
               answer->free = find_free_blocks(stream.state_at(answer->event).heap(heap.heap).space, free_blocks_max);
               Document document = describe_failure(*trace, diagnosis, number);
               if (Document verdict = describe_recorded_verdict(*trace); !verdict.parts.empty())
                 document.parts.insert(document.parts.begin(), Part{std::move(verdict)});
               answer->document = std::make_shared<const Document>(std::move(document));
               answer->advice = diagnosis.advice;
               const std::size_t blocks = diagnosis.facts.place ? diagnosis.facts.place->blocks.size() : 0;
               return {std::move(answer), free_blocks_max * sizeof(AddressRange) + blocks * sizeof(LiveBlock)};
             });
}

void ask_sizes(Answering& asking) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const ViewPosition& position = asking.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  asking.ask(&Answers::sizes, {position.source, heap, position.at},
             [moment, heap](Work& work) -> Computed<SizesAnswer> {
               auto all = compute_heap_metrics(*moment->trace, moment->states, {}, &work);
               if (!all) return Failure(cancelled_error());
               auto answer = std::make_shared<SizesAnswer>();
               answer->moment = moment;
               answer->heap = heap;
               answer->metrics = std::move((*all)[row_of_heap(*moment->trace, heap)]);
               const Stream& stream = moment->trace->streams[heap.stream];
               if (is_of_bfc(stream, heap.heap))
                 answer->bins = compute_bfc_bins(stream, moment->states[heap.stream], heap.heap);
               return {std::move(answer), sizeof(SizesAnswer)};
             });
}

}  // namespace hbmscope::gui
