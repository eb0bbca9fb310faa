// Questions that only a trace can answer: the live blocks at the selected time, and their places in memory.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "analysis/diagnose/holders.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/questions.h"

namespace hbmscope::gui {

namespace {

struct SideBySideOptions {  // A is `source` of the key; B is its `baseline`, at the key's time.
  HeapKey heap_a, heap_b;
  MomentName at_a;
  bool operator==(const SideBySideOptions&) const = default;
};
struct HeapMapOptions {
  HeapKey heap;
  HeapColoring coloring = HeapColoring::user_code;
  MomentName pin = {};  // Used by the coloring by change.
  std::shared_ptr<const TraceColors> colors = nullptr;
  bool operator==(const HeapMapOptions&) const = default;
};

void ask_moment_at(Answering& asking, Answer<TraceMoment> Answers::*member, const Source& source, const MomentName& at,
                   bool falls_back_to_peak = false) {
  asking.ask(member, {source.id, falls_back_to_peak, at},
             [trace = source.trace, at, falls_back_to_peak](const auto&) -> Computed<TraceMoment> {
               auto found = at.find_in(*trace);
               if (!found && falls_back_to_peak) found = find_moment(*trace, "peak");
               if (!found) return Failure(found.error());
               auto moment = std::make_shared<TraceMoment>();
               moment->trace = trace;
               moment->moment = std::move(*found);
               moment->states = compute_states(*trace, moment->moment);
               std::size_t bytes = 4096;
               for (const StreamState& one : moment->states) bytes += one.slot_count() * 128;
               return {std::move(moment), bytes};
             });
}

}  // namespace

void ask_moment(Answering& asking) {
  ask_moment_at(asking, &Answers::moment, *asking.state().source(), asking.position().at);
}

void ask_baseline_moment(Answering& asking, const Source& baseline, const MomentName& at) {
  // The baseline may not have failed at this point.
  ask_moment_at(asking, &Answers::baseline_moment, baseline, at, true);
}

void ask_pinned(Answering& asking) {
  const MomentName& pin = asking.position().pin;
  if (pin.empty()) {
    asking.forget(&Answers::pinned);
    asking.forget(&Answers::compare);
  } else {
    ask_moment_at(asking, &Answers::pinned, *asking.state().source(), pin);
  }
}

void ask_compare(Answering& asking) {
  const auto now = ready_moment(asking.state()), pinned = ready_pinned(asking.state());
  if (now == nullptr || pinned == nullptr) return;
  const ViewPosition& position = asking.position();
  asking.ask(
      &Answers::compare, {position.source, position.pin, position.at},
      [now, pinned](Work& work) -> Computed<CompareAnswer> {
        auto diff = compute_block_diff({*pinned->trace, pinned->states}, {*now->trace, now->states}, &work.cancelled);
        if (!diff) return Failure(cancelled_error());
        auto answer = std::make_shared<CompareAnswer>(CompareAnswer{now, pinned, std::move(*diff)});
        const std::size_t bytes = 4096 + answer->diff.user_code.size() * (sizeof(BlockDiffRow) + 96);
        return {std::move(answer), bytes};
      });
}

namespace {

std::string where_of_holder(Holders::By by, const std::string& name) {
  if (name.starts_with('(')) return {};  // "(no stack was recorded)"
  switch (by) {
    case Holders::By::code: return "own=" + where_quote(name);
    case Holders::By::category: return "category=" + where_quote(name);
    case Holders::By::tag: return "tag=" + where_quote(name);
    case Holders::By::size: return {};
  }
  return {};
}

// Matched by their names: two runs of one program have the same lines.
void compare_holders(const TraceMoment& a, HeapKey heap_a, const TraceMoment& b, HeapKey heap_b,
                     std::optional<Holders::By>& held_by, std::vector<HeldOnSides>& lines) {
  const Holders in_a = HolderFinder(*a.trace, a.states, heap_a).find(),
                in_b = HolderFinder(*b.trace, b.states, heap_b).find();
  const bool has_both = !in_a.rows.empty() && !in_b.rows.empty();
  if (has_both && in_a.by != in_b.by) return;
  const Holders::By by = in_a.rows.empty() ? in_b.by : in_a.by;
  held_by = by;
  std::map<std::string, HeldOnSides> by_name;
  for (const Holder& one : in_a.rows) by_name[one.name].a += one.bytes;
  for (const Holder& one : in_b.rows) by_name[one.name].b += one.bytes;
  for (auto& [name, held] : by_name) {
    if (held.a == held.b) continue;
    held.name = text_from_holder({name, 0, 0, {}});
    held.where = where_of_holder(by, name);
    lines.push_back(std::move(held));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const HeldOnSides& x, const HeldOnSides& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
}

}  // namespace

void ask_side_by_side(Answering& asking) {
  if (!asking.state().is_split()) return asking.forget(&Answers::side_by_side);
  const auto a = ready_moment_of(asking.state(), 0), b = ready_moment_of(asking.state(), 1);
  const bool is_failed =
      asking.state().contexts[0].answers.moment.failed() || asking.state().contexts[1].answers.moment.failed();
  if (is_failed) return asking.forget(&Answers::side_by_side);
  if (a == nullptr || b == nullptr) return;
  const ViewPosition &in_a = asking.state().contexts[0].position, &in_b = asking.state().contexts[1].position;
  const HeapKey heap_a = choose_heap(*a->trace, in_a.heap), heap_b = choose_heap(*b->trace, in_b.heap);
  if (heap_a.empty() || heap_b.empty()) return asking.forget(&Answers::side_by_side);
  asking.ask(
      &Answers::side_by_side, {in_a.source, SideBySideOptions{heap_a, heap_b, in_a.at}, in_b.at, {}, in_b.source},
      [a, b, heap_a, heap_b](Work& work) -> Computed<SideBySideAnswer> {
        auto heaps = compare_heaps({*a->trace, a->states, heap_a, a->position(heap_a)},
                                   {*b->trace, b->states, heap_b, b->position(heap_b)}, &work);
        if (!heaps) return Failure(cancelled_error());
        auto answer = std::make_shared<SideBySideAnswer>(SideBySideAnswer{a, b, std::move(*heaps), {}, {}, {}});
        std::optional<Holders::By> held_by;
        compare_holders(*a, heap_a, *b, heap_b, held_by, answer->lines);
        const auto settings = compare_settings(*a->trace, *b->trace);
        answer->words =
            std::make_shared<const Document>(describe_differences(answer->heaps, settings, held_by, answer->lines));
        answer->figures = describe_heap_figures(answer->heaps.rows);
        return {std::move(answer), 16'384};
      });
}

void ask_heap_map(Answering& asking) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const ViewPosition& position = asking.position();
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return;
  const auto shown = shown_coloring(asking.state());
  if (!shown) return;
  const auto& colors = asking.state().context().colors;
  // If the pinned time does not exist there is no change to colour; Compare says why.
  const HeapColoring coloring =
      row_of(*shown).compares_with_pin && asking.answers().pinned.failed() ? colors->automatic : *shown;
  const bool is_change = row_of(coloring).compares_with_pin;
  const auto pinned = is_change ? ready_pinned(asking.state()) : nullptr;
  if (is_change && pinned == nullptr) return;
  const HeapMapOptions map{heap, coloring, is_change ? position.pin : MomentName(), colors};
  const auto& before = asking.answers().heap_map.value;
  const bool is_same = before && (before->moment->trace == moment->trace || asking.state().source()->live);
  const bool has_extent = is_same && before->heap == heap && before->extent->is_of(moment->stream(heap), heap.heap);
  asking.ask(
      &Answers::heap_map, {position.source, map, position.at},
      [moment, pinned, heap, coloring, colors,
       extent = has_extent ? before->extent : nullptr](Work& work) -> Computed<HeapMapAnswer> {
        auto answer = std::make_shared<HeapMapAnswer>();
        answer->moment = moment;
        answer->extent =
            extent ? extent : std::make_shared<const HeapExtent>(compute_heap_extent(moment->stream(heap), heap.heap));
        answer->pinned = pinned;
        answer->heap = heap;
        ColoringFacts facts;
        if (pinned) facts.pinned = &pinned->state_of(heap);
        if (row_of(coloring).needs_ends) {
          auto live = collect_live_rows(*moment->trace, moment->states, true, &work);
          if (!live) return Failure(cancelled_error());
          facts.live = std::move(live->rows);
          facts.stream = heap.stream;
        }
        answer->spans = compute_heap_spans(moment->stream(heap), moment->state_of(heap), heap.heap, coloring, *colors,
                                           facts, answer->extent.get());
        answer->driver_pools = find_driver_pools(moment->stream(heap), heap.heap, moment->state_of(heap).position());
        const std::size_t bytes = answer->spans.memory_bytes();
        return {std::move(answer), bytes};
      });
}

}  // namespace hbmscope::gui
