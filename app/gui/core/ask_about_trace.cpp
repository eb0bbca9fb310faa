// The questions that only a trace can answer: what lives at the moment, where it lies, how it came to that.
#include "app/gui/core/ask.h"

namespace hbmscope::gui {
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

std::shared_ptr<const TraceMoment> App::Impl::ready_moment() const {
  const Answer<TraceMoment>& moment = state.answers().moment;
  const Source* source = state.source();
  const bool is_ready = moment.state == AnswerState::ready && source != nullptr && source->trace == moment.value->trace;
  return is_ready ? moment.value : nullptr;
}

void App::Impl::ask_heap_map() {
  if (const auto& map = state.answers().heap_map.value) state.line_colors.add(map->pieces.colors.files());
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const ViewPosition& position = state.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  const HeapColoring coloring = position.coloring;
  ask<HeapMapAnswer>(
      static_cast<int>(Question::heap_map), &Answers::heap_map,
      {0,
       position.source,
       SourceId::none,
       {},
       text_from_heap_key(heap) + " " + std::string(text_from_coloring(coloring)),
       position.at},
      [moment, heap, coloring, colors = state.line_colors](const auto&) -> Result<Computed<HeapMapAnswer>> {
        auto answer = std::make_shared<HeapMapAnswer>();
        answer->moment = moment;
        answer->heap = heap;
        answer->pieces = compute_heap_pieces(moment->stream(heap), moment->state_of(heap), heap.heap, coloring, colors);
        const std::size_t bytes = answer->pieces.memory_bytes();
        return Computed<HeapMapAnswer>{std::move(answer), bytes};
      });
}

}  // namespace hbmscope::gui
