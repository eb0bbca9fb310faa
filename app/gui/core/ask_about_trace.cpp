// The questions that only a trace can answer: what lives at the moment, where it lies, how it came to that.
#include <algorithm>

#include "app/gui/core/ask.h"

namespace hbmscope::gui {

namespace {

// What both heaps can be told apart by; every block has a size.
HeapColoring coloring_of_both(const StreamState& state, HeapKey heap, const StreamState& other, HeapKey other_heap) {
  const HeapColoring own = choose_coloring(state, heap.heap), its = choose_coloring(other, other_heap.heap);
  return own == its ? own : HeapColoring::size;
}

}  // namespace

void App::Impl::ask_moment_at(int kind, Answer<TraceMoment> Answers::*member, const Source& source,
                              const MomentName& at) {
  ask<TraceMoment>(kind, member, {0, source.id, SourceId::none, {}, {}, at},
                   [trace = source.trace, at,
                    is_baseline = kind == slot_baseline_moment](const auto&) -> Result<Computed<TraceMoment>> {
                     auto found = at.find_in(*trace);
                     // The baseline may not have failed where this file did.
                     if (!found && is_baseline) found = find_moment(*trace, "peak");
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

void App::Impl::ask_moment(const Source& source) {
  ask_moment_at(slot_moment, &Answers::moment, source, state.position().at);
}

void App::Impl::ask_pinned(const Source& source) {
  const MomentName& pin = state.position().pin;
  if (pin.empty()) {
    forget(slot_pinned, &Answers::pinned);
    forget(static_cast<int>(Question::compare), &Answers::compare);
  } else {
    ask_moment_at(slot_pinned, &Answers::pinned, source, pin);
  }
}

std::shared_ptr<const TraceMoment> App::Impl::ready_pinned() const {
  const Answer<TraceMoment>& pinned = state.answers().pinned;
  const Source* source = state.source();
  const bool is_ready = pinned.state == AnswerState::ready && source != nullptr && source->trace == pinned.value->trace;
  return is_ready ? pinned.value : nullptr;
}

void App::Impl::ask_settings() {
  const Source *now = state.source(), *baseline = state.baseline();
  ask<std::vector<SettingChange>>(
      slot_settings, &Answers::settings, {0, now->id, baseline->id, {}, {}},
      [now = now->trace, baseline = baseline->trace](const auto&) -> Result<Computed<std::vector<SettingChange>>> {
        auto settings = std::make_shared<const std::vector<SettingChange>>(compare_settings(*baseline, *now));
        const std::size_t bytes = 4096 + settings->size() * 256;
        return Computed<std::vector<SettingChange>>{std::move(settings), bytes};
      });
}

void App::Impl::ask_compare() {
  const auto now = ready_moment(), pinned = ready_pinned();
  if (now == nullptr || pinned == nullptr) return;
  const ViewPosition& position = state.position();
  ask<CompareAnswer>(
      static_cast<int>(Question::compare), &Answers::compare,
      {0, position.source, SourceId::none, {}, position.pin.text(), position.at},
      [now, pinned](Work& work) -> Result<Computed<CompareAnswer>> {
        auto diff = compute_block_diff({*pinned->trace, pinned->states}, {*now->trace, now->states}, &work.cancelled);
        if (!diff) return Failure(cancelled_error());
        auto answer = std::make_shared<CompareAnswer>(CompareAnswer{now, pinned, std::move(*diff)});
        const std::size_t bytes = 4096 + answer->diff.own_code.size() * (sizeof(BlockDiffRow) + 96);
        return Computed<CompareAnswer>{std::move(answer), bytes};
      });
}

std::shared_ptr<const TraceMoment> App::Impl::ready_moment() const {
  const Answer<TraceMoment>& moment = state.answers().moment;
  const Source* source = state.source();
  if (moment.state != AnswerState::ready || source == nullptr || source->trace != moment.value->trace) return nullptr;
  // Of the other side, the next moment may not be asked for yet.
  const auto asked = side().slots.find(slot_moment);
  return asked != side().slots.end() && asked->second.key.at == state.position().at ? moment.value : nullptr;
}

std::shared_ptr<const TraceMoment> App::Impl::ready_moment_of(std::size_t context) const {
  const ContextScope scope(state, context);
  return ready_moment();
}

void App::Impl::ask_beside() {
  if (!state.is_split()) return forget(static_cast<int>(Question::beside), &Answers::beside);
  const auto a = ready_moment_of(0), b = ready_moment_of(1);
  const bool is_failed = state.contexts[0].answers.moment.failed() || state.contexts[1].answers.moment.failed();
  if (is_failed) return forget(static_cast<int>(Question::beside), &Answers::beside);
  if (a == nullptr || b == nullptr) return;
  const ViewPosition &in_a = state.contexts[0].position, &in_b = state.contexts[1].position;
  const HeapKey heap_a = choose_heap(*a->trace, in_a.heap), heap_b = choose_heap(*b->trace, in_b.heap);
  if (heap_a.empty() || heap_b.empty()) return forget(static_cast<int>(Question::beside), &Answers::beside);
  const std::string detail = text_from_heap_key(heap_a) + " " + in_a.at.text() + " " + text_from_heap_key(heap_b);
  ask<BesideAnswer>(static_cast<int>(Question::beside), &Answers::beside,
                    {0, in_a.source, in_b.source, {}, detail, in_b.at},
                    [a, b, heap_a, heap_b](Work& work) -> Result<Computed<BesideAnswer>> {
                      auto heaps = compare_heaps({*a->trace, a->states, heap_a, a->position(heap_a)},
                                                 {*b->trace, b->states, heap_b, b->position(heap_b)}, &work);
                      if (!heaps) return Failure(cancelled_error());
                      auto answer = std::make_shared<BesideAnswer>(
                          BesideAnswer{a, b, std::move(*heaps), compare_settings(*a->trace, *b->trace)});
                      return Computed<BesideAnswer>{std::move(answer), 16'384};
                    });
}

void App::Impl::ask_heap_map() {
  if (const auto& map = state.answers().heap_map.value) state.line_colors.add(map->pieces.colors.files());
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const ViewPosition& position = state.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  // Against a moment that there is not, nothing changed: Compare says why.
  const HeapColoring coloring = position.coloring == HeapColoring::change && state.answers().pinned.failed()
                                    ? HeapColoring::automatic
                                    : position.coloring;
  const bool is_change = coloring == HeapColoring::change;
  const auto pinned = is_change ? ready_pinned() : nullptr;
  if (is_change && pinned == nullptr) return;
  // Two sides on Automatic are coloured by one rule; while the other one moves, this one stays as it is.
  const bool is_one_of_two = state.is_split() && coloring == HeapColoring::automatic &&
                             state.contexts[1 - state.context_index()].position.coloring == HeapColoring::automatic;
  const std::size_t other = 1 - std::min<std::size_t>(1, state.context_index());
  const auto beside = is_one_of_two ? ready_moment_of(other) : nullptr;
  const bool is_shown = state.answers().heap_map.value != nullptr && state.answers().heap_map.value->moment == moment;
  if (is_one_of_two && beside == nullptr && is_shown) return;
  const HeapKey heap_beside = beside ? choose_heap(*beside->trace, state.contexts[other].position.heap) : HeapKey{};
  std::string rule(text_from_coloring(coloring));
  if (!heap_beside.empty()) {
    const ViewPosition& position_beside = state.contexts[other].position;
    rule += " with " + std::to_string(static_cast<std::uint32_t>(position_beside.source)) + " " +
            text_from_heap_key(heap_beside) + " " + position_beside.at.text();
  }
  ask<HeapMapAnswer>(static_cast<int>(Question::heap_map), &Answers::heap_map,
                     {0,
                      position.source,
                      SourceId::none,
                      {},
                      text_from_heap_key(heap) + " " + rule + (is_change ? " " + position.pin.text() : std::string()),
                      position.at},
                     [moment, pinned, heap, coloring, beside, heap_beside,
                      colors = state.line_colors](Work& work) -> Result<Computed<HeapMapAnswer>> {
                       auto answer = std::make_shared<HeapMapAnswer>();
                       answer->moment = moment;
                       answer->pinned = pinned;
                       answer->heap = heap;
                       ColoringFacts facts;
                       if (pinned) facts.pinned = &pinned->state_of(heap);
                       if (coloring == HeapColoring::lifetime) {
                         auto live = collect_live_rows(*moment->trace, moment->states, true, &work);
                         if (!live) return Failure(cancelled_error());
                         facts.live = std::move(live->rows);
                         facts.stream = heap.stream;
                       }
                       const HeapColoring chosen = heap_beside.empty()
                                                       ? coloring
                                                       : coloring_of_both(moment->state_of(heap), heap,
                                                                          beside->state_of(heap_beside), heap_beside);
                       answer->pieces = compute_heap_pieces(moment->stream(heap), moment->state_of(heap), heap.heap,
                                                            chosen, colors, facts);
                       const std::size_t bytes = answer->pieces.memory_bytes();
                       return Computed<HeapMapAnswer>{std::move(answer), bytes};
                     });
}

}  // namespace hbmscope::gui
