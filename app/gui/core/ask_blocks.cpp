// Questions about single blocks: the live blocks at the selected time, and the history of an address.
#include <algorithm>
#include <map>

#include "analysis/query/block_find.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/filter_text.h"
#include "app/gui/core/no_match.h"
#include "app/gui/core/questions.h"

namespace hbmscope::gui {
namespace {

struct BlocksOptions {
  BlockQuery query;
  bool marks_hits = false, with_ends = false;
  HeapKey heap = {};  // Where an address that is not in use is looked for first.
  bool operator==(const BlocksOptions&) const = default;
};
struct AddressOptions {
  HeapKey heap;
  AddressRange range;
  bool operator==(const AddressOptions&) const = default;
};
struct EventsOptions {
  std::size_t stream = 0;
  std::uint64_t first = 0;
  bool operator==(const EventsOptions&) const = default;
};

std::vector<HeapHits> hits_of(const BlocksAnswer& answer) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, HeapHits> by_heap;
  for (const std::uint32_t row : answer.list.rows) {
    const LiveRow& live = answer.of->live.rows[row];
    const LiveBlock block = answer.of->moment->states[live.stream].slots()[live.slot];
    HeapHits& hits = by_heap[{live.stream, block.heap}];
    hits.heap = {live.stream, block.heap};
    hits.ranges.push_back({block.address, block.address + block.size});
  }
  std::vector<HeapHits> all;
  for (auto& [key, hits] : by_heap) {
    std::sort(hits.ranges.begin(), hits.ranges.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
    all.push_back(std::move(hits));
  }
  return all;
}

BlockQuery block_query(const AppState& state) {
  const ViewPosition& position = state.position();
  BlockQuery query = position.blocks;
  query.where = where_from_find(position.request.where);
  query.heaps = heaps_in_scope(state);
  return query;
}

void ask_live_blocks(Answering& asking) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const bool with_ends = asking.asks(Question::lifetimes) || needs_ends(*moment->trace, block_query(asking.state()));
  asking.ask(
      &Answers::live_blocks, {asking.position().source, with_ends, asking.position().at},
      [moment, with_ends](Work& work) -> Computed<LiveAnswer> {
        auto live = collect_live_rows(*moment->trace, moment->states, with_ends, &work);
        if (!live) return Failure(cancelled_error());
        auto answer = std::make_shared<LiveAnswer>(LiveAnswer{moment, std::move(*live), labels_of(*moment->trace)});
        const std::size_t bytes = 4096 + answer->live.rows.size() * sizeof(LiveRow);
        return {std::move(answer), bytes};
      });
}

void ask_list(Answering& asking, Answer<BlocksAnswer> Answers::*member, const BlockQuery& query) {
  ask_live_blocks(asking);
  const auto shown = ready_moment(asking.state());
  const Answer<LiveAnswer>& live = asking.answers().live_blocks;
  if (shown == nullptr || live.state != AnswerState::ready || live.value->moment != shown) return;
  const bool looks_for = !query.where.empty();
  const HeapKey heap = choose_heap(*shown->trace, asking.position().heap);
  asking.ask(
      member,
      {asking.position().source,
       BlocksOptions{query, looks_for, live.value->live.knows_ends, looks_for ? heap : HeapKey()},
       asking.position().at},
      [live = live.value, query, looks_for, heap](Work& work) -> Computed<BlocksAnswer> {
        const TraceMoment& moment = *live->moment;
        auto list = compute_block_list(*moment.trace, moment.states, live->live, query, &work.cancelled);
        if (!list) return Failure(list.error());
        auto answer = std::make_shared<BlocksAnswer>(BlocksAnswer{live, query, std::move(*list), {}});
        if (looks_for) answer->hits = hits_of(*answer);
        if (looks_for && answer->list.rows.empty() && !find_gone_blocks(moment, query, heap, answer->gone, &work))
          return Failure(cancelled_error());
        const std::size_t bytes = 4096 + answer->list.rows.size() * (looks_for ? 20 : 4);
        return {std::move(answer), bytes};
      });
}

}  // namespace

// A growing trace says more with time; what was said of an allocation stays.
void ask_names(Answering& asking) {
  const Source* source = asking.state().source();
  if (source == nullptr || !source->trace) return;
  std::uint64_t events = 0;
  for (const Stream& stream : source->trace->streams) events += stream.end_position();
  const auto& known = asking.answers().names;
  if (source->live && known.value && known.key.source == source->id)
    if (const auto* asked = known.key.options.as<std::uint64_t>(); asked != nullptr && events < *asked + *asked / 4)
      return;
  asking.ask(&Answers::names, {source->id, events}, [trace = source->trace](Work&) -> Computed<NamesAnswer> {
    auto answer = std::make_shared<NamesAnswer>();
    answer->trace = trace;
    answer->labels = labels_of(*trace);
    std::size_t attributes = 0;
    for (std::size_t i = 0; i < trace->streams.size(); ++i) {
      attributes += trace->streams[i].attributes().rows().size();
      answer->has_names |= answer->labels[i].has_names();
      answer->has_categories |= answer->labels[i].has_categories();
    }
    return {std::move(answer), 4096 + attributes * 64};
  });
}

void ask_blocks(Answering& asking) {
  ask_list(asking, &Answers::blocks, block_query(asking.state()));
}

void ask_frames_blocks(Answering& asking) {
  const ViewPosition& position = asking.position();
  if (!selects_blocks(position)) return asking.forget(&Answers::frames_blocks);
  ask_list(asking, &Answers::frames_blocks,
           {highlight_filter(position), BlockOrder::size, false, heaps_in_scope(asking.state())});
}

namespace {

// What else the block is: memory of other heaps, and of compiled programs.
void add_relations(AddressAnswer& answer, const LiveBlock& block) {
  const TraceMoment& moment = *answer.moment;
  answer.elsewhere = find_same_memory(*moment.trace, moment.states, answer.heap.stream, answer.heap.heap, answer.range);
  answer.parts = ProgramParts(*moment.trace).find(answer.heap.stream, block);
  if (answer.parts.empty() || !answer.parts.front().is_temporary()) return;
  answer.values = find_program_values(*moment.trace, answer.parts.front());
  std::stable_sort(answer.values.begin(), answer.values.end(),
                   [](const ProgramValue& a, const ProgramValue& b) { return a.size > b.size; });
}

}  // namespace

void ask_address(Answering& asking) {
  const Answer<HeapMapAnswer>& map = asking.answers().heap_map;
  const ViewPosition& position = asking.position();
  if (!position.address) return asking.forget(&Answers::address);
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr || map.state != AnswerState::ready || map.value->moment != moment) return;
  const HeapSpan* span = map.value->spans.find(*position.address);
  if (span == nullptr) return asking.forget(&Answers::address);
  const AddressRange range{span->begin, span->end()};
  const std::optional<std::uint32_t> slot =
      span->kind == SpanKind::block ? std::optional<std::uint32_t>(span->slot) : std::nullopt;
  asking.ask(&Answers::address, {position.source, AddressOptions{map.value->heap, range}, position.at},
             [moment, heap = map.value->heap, range, slot](Work& work) -> Computed<AddressAnswer> {
               auto history =
                   compute_address_history(moment->stream(heap), heap.heap, range, moment->position(heap), &work);
               if (!history) return Failure(cancelled_error());
               auto answer =
                   std::make_shared<AddressAnswer>(AddressAnswer{heap, range, moment, std::move(*history), {}, {}, {}});
               if (slot) add_relations(*answer, moment->state_of(heap).slots()[*slot]);
               const std::size_t bytes =
                   4096 + answer->history.rows.size() * sizeof(HeldRow) + answer->values.size() * sizeof(ProgramValue);
               return {std::move(answer), bytes};
             });
}

// The answer covers events around the selected time, and is kept while the time stays within them.
void ask_events(Answering& asking) {
  const auto moment = ready_moment(asking.state());
  if (moment == nullptr) return;
  const HeapKey heap = choose_heap(*moment->trace, asking.position().heap);
  const std::uint64_t position = moment->moment.positions[heap.stream];
  constexpr std::uint64_t step = event_window / 2;
  const std::uint64_t middle = position / step * step;
  const std::uint64_t first = middle - std::min(middle, event_window), last = middle + step + event_window;
  asking.ask(&Answers::events, {asking.position().source, EventsOptions{heap.stream, first}},
             [trace = moment->trace, stream = heap.stream, first, last](Work&) -> Computed<EventsAnswer> {
               auto answer = std::make_shared<EventsAnswer>(
                   EventsAnswer{trace, stream, compute_event_rows(trace->streams[stream], first, last)});
               const std::size_t bytes = 4096 + answer->rows.size() * sizeof(EventRow);
               return {std::move(answer), bytes};
             });
}

}  // namespace hbmscope::gui
