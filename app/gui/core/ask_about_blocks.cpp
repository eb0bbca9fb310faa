// The questions about single blocks: which live at the moment, and what an address held from the first event on.
#include <algorithm>
#include <map>

#include "analysis/query/block_find.h"
#include "app/gui/core/ask.h"

namespace hbmscope::gui {
namespace {

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

}  // namespace

BlockQuery App::Impl::block_query() const {
  const ViewPosition& position = state.position();
  BlockQuery query = position.blocks;
  query.where = where_of_both(position.request.where, where_from_find(position.blocks.where));
  return query;
}

void App::Impl::ask_live_blocks() {
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const bool with_ends = asks(Question::lifetimes) || needs_ends(*moment->trace, block_query());
  ask<LiveAnswer>(slot_live_blocks, &Answers::live_blocks,
                  {0, state.position().source, SourceId::none, {}, with_ends ? "ends" : "", state.position().at},
                  [moment, with_ends](Work& work) -> Result<Computed<LiveAnswer>> {
                    auto live = collect_live_rows(*moment->trace, moment->states, with_ends, &work);
                    if (!live) return Failure(cancelled_error());
                    auto answer = std::make_shared<LiveAnswer>(LiveAnswer{moment, std::move(*live)});
                    const std::size_t bytes = 4096 + answer->live.rows.size() * sizeof(LiveRow);
                    return Computed<LiveAnswer>{std::move(answer), bytes};
                  });
}

void App::Impl::ask_blocks() {
  ask_live_blocks();
  const auto shown = ready_moment();
  const Answer<LiveAnswer>& live = state.answers().live_blocks;
  if (shown == nullptr || live.state != AnswerState::ready || live.value->moment != shown) return;
  const BlockQuery query = block_query();
  const bool looks_for = !state.position().blocks.where.empty();
  ask<BlocksAnswer>(
      static_cast<int>(Question::blocks), &Answers::blocks,
      {0,
       state.position().source,
       SourceId::none,
       {},
       query.where + '\n' + std::string(text_from_block_order(query.order)) + (query.is_ascending ? " up" : " down") +
           (looks_for ? " find" : "") + (live.value->live.knows_ends ? " ends" : ""),
       state.position().at},
      [live = live.value, query, looks_for](Work& work) -> Result<Computed<BlocksAnswer>> {
        const TraceMoment& moment = *live->moment;
        auto list = compute_block_list(*moment.trace, moment.states, live->live, query, &work.cancelled);
        if (!list) return Failure(list.error());
        auto answer = std::make_shared<BlocksAnswer>(BlocksAnswer{live, query, std::move(*list), {}});
        if (looks_for) answer->hits = hits_of(*answer);
        const std::size_t bytes = 4096 + answer->list.rows.size() * (looks_for ? 20 : 4);
        return Computed<BlocksAnswer>{std::move(answer), bytes};
      });
}

void App::Impl::ask_address() {
  const Answer<HeapMapAnswer>& map = state.answers().heap_map;
  const ViewPosition& position = state.position();
  if (!position.address) return forget(static_cast<int>(Question::address), &Answers::address);
  const auto moment = ready_moment();
  if (moment == nullptr || map.state != AnswerState::ready || map.value->moment != moment) return;
  const HeapPiece* piece = map.value->pieces.find(*position.address);
  if (piece == nullptr) return forget(static_cast<int>(Question::address), &Answers::address);
  const AddressRange range{piece->begin, piece->end()};
  ask<AddressAnswer>(
      static_cast<int>(Question::address), &Answers::address,
      {0,
       position.source,
       SourceId::none,
       {},
       text_from_heap_key(map.value->heap) + " " + std::to_string(range.begin) + " " + std::to_string(range.end),
       position.at},
      [moment, heap = map.value->heap, range](Work& work) -> Result<Computed<AddressAnswer>> {
        auto history = compute_address_history(moment->stream(heap), heap.heap, range, moment->position(heap), &work);
        if (!history) return Failure(cancelled_error());
        auto answer = std::make_shared<AddressAnswer>(AddressAnswer{heap, range, moment, std::move(*history)});
        const std::size_t bytes = 4096 + answer->history.rows.size() * sizeof(HeldRow);
        return Computed<AddressAnswer>{std::move(answer), bytes};
      });
}

// A window that stays while the moment moves within it.
void App::Impl::ask_events() {
  const auto moment = ready_moment();
  if (moment == nullptr) return;
  const HeapKey heap = choose_heap(*moment->trace, state.position().heap);
  const std::uint64_t position = moment->moment.positions[heap.stream];
  constexpr std::uint64_t step = event_window / 2;
  const std::uint64_t middle = position / step * step;
  const std::uint64_t first = middle - std::min(middle, event_window), last = middle + step + event_window;
  ask<EventsAnswer>(
      static_cast<int>(Question::events), &Answers::events,
      {0, state.position().source, SourceId::none, {}, std::to_string(heap.stream) + " " + std::to_string(first)},
      [trace = moment->trace, stream = heap.stream, first, last](Work&) -> Result<Computed<EventsAnswer>> {
        auto answer = std::make_shared<EventsAnswer>(
            EventsAnswer{trace, stream, compute_event_rows(trace->streams[stream], first, last)});
        const std::size_t bytes = 4096 + answer->rows.size() * sizeof(EventRow);
        return Computed<EventsAnswer>{std::move(answer), bytes};
      });
}

void App::Impl::ask_about_blocks() {
  const bool asks_for_address = asks(Question::address) && state.position().address;
  if (asks_for_address) ask_heap_map();
  if (asks(Question::blocks)) ask_blocks();
  if (asks(Question::address)) ask_address();
  if (asks(Question::events)) ask_events();
}

void App::Impl::forget_blocks() {
  forget(slot_live_blocks, &Answers::live_blocks);
  forget(static_cast<int>(Question::blocks), &Answers::blocks);
  forget(static_cast<int>(Question::address), &Answers::address);
  forget(static_cast<int>(Question::events), &Answers::events);
}

}  // namespace hbmscope::gui
