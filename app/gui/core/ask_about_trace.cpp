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
  ask<TimelineColumns>(static_cast<int>(Question::timeline), &Answers::timeline,
                       {0, source->id, SourceId::none, {}, text_from_heap_key(heap)},
                       [trace = source->trace, heap](const auto&) -> Result<Computed<TimelineColumns>> {
                         auto timeline = std::make_shared<const TimelineColumns>(
                             compute_timeline_columns(trace->streams[heap.stream], heap, timeline_columns));
                         const std::size_t bytes = timeline->columns.size() * sizeof(TimelineColumn);
                         return Computed<TimelineColumns>{std::move(timeline), bytes};
                       });
}

}  // namespace hbmscope::gui
