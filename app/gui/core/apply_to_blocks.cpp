// Commands that find blocks, sort them or step through them.
#include <algorithm>
#include <utility>

#include "app/gui/core/answers.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {
namespace {

void select_frame_of_block(ViewPosition& position, FrameKey frame) {
  if (position.selection != frame) position.log_line.reset();
  position.selection = std::move(frame);
}

void select_in_heap(AppState& state, const HeapMapAnswer& answer, const HeapSpan& span) {
  ViewPosition& position = state.context().position;
  position.address = span.begin;
  select_frame_of_block(position, frame_of_span(answer, span));
  position.cell.reset();
}

// In address order, heap by heap, and from the end back to the start.
void step_hit(AppState& state, bool forward) {
  const auto& blocks = state.answers().blocks.value;
  ViewPosition& position = state.context().position;
  if (!blocks || blocks->hits.empty()) {
    state.window.notice = "No live block matches \"" + position.request.where + "\".";
    return;
  }
  const HeapKey heap = choose_heap(*blocks->of->moment->trace, position.heap);
  std::size_t in = 0;
  while (in < blocks->hits.size() && blocks->hits[in].heap != heap) ++in;
  const auto go_to = [&](const HeapHits& hits, const AddressRange& range) {
    position.heap = hits.heap;
    position.address = range.begin;
    position.cell.reset();
    select_frame_of_block(position, {});
  };
  const std::size_t count = blocks->hits.size();
  if (in == count) return go_to(blocks->hits.front(), blocks->hits.front().ranges.front());
  const auto& ranges = blocks->hits[in].ranges;
  const auto is_before = [](const AddressRange& range, std::uint64_t at) { return range.begin < at; };
  const auto is_after = [](std::uint64_t at, const AddressRange& range) { return at < range.begin; };
  if (forward) {
    const auto next =
        position.address ? std::upper_bound(ranges.begin(), ranges.end(), *position.address, is_after) : ranges.begin();
    const HeapHits& other = blocks->hits[(in + 1) % count];
    return next != ranges.end() ? go_to(blocks->hits[in], *next) : go_to(other, other.ranges.front());
  }
  const auto here =
      position.address ? std::lower_bound(ranges.begin(), ranges.end(), *position.address, is_before) : ranges.end();
  const HeapHits& other = blocks->hits[(in + count - 1) % count];
  here != ranges.begin() ? go_to(blocks->hits[in], *std::prev(here)) : go_to(other, other.ranges.back());
}

// Selects the largest free block, or the next smaller one if a free block is selected. After the smallest it starts
// again.
void go_to_largest_free(AppState& state) {
  const auto& map = state.answers().heap_map.value;
  if (!map) return;
  const auto& spans = map->spans.spans;
  const HeapSpan* now = state.position().address ? map->spans.find(*state.position().address) : nullptr;
  const auto is_larger = [](const HeapSpan& a, const HeapSpan& b) {
    return a.size != b.size ? a.size > b.size : a.begin < b.begin;
  };
  const HeapSpan *largest = nullptr, *next = nullptr;
  for (const HeapSpan& span : spans) {
    if (span.kind != SpanKind::free) continue;
    if (largest == nullptr || is_larger(span, *largest)) largest = &span;
    const bool comes_later = now != nullptr && now->kind == SpanKind::free && is_larger(*now, span);
    if (comes_later && (next == nullptr || is_larger(span, *next))) next = &span;
  }
  if (largest == nullptr) {
    state.window.notice =
        map->spans.knows_regions ? "Nothing is free in this heap." : "This source does not report free memory.";
    return;
  }
  select_in_heap(state, *map, next != nullptr ? *next : *largest);
}

// Looks in the current heap first, then in the others.
void go_to_address(AppState& state, std::uint64_t address) {
  const auto& moment = state.answers().moment.value;
  if (!moment) return;
  ViewPosition& position = state.context().position;
  std::vector<NamedHeap> heaps = heaps_of(*moment->trace);
  const HeapKey shown = choose_heap(*moment->trace, position.heap);
  std::stable_partition(heaps.begin(), heaps.end(), [&](const NamedHeap& one) { return one.key == shown; });
  for (const NamedHeap& heap : heaps) {
    const PlaceAt place = find_place(moment->state_of(heap.key), heap.key.heap, address);
    if (place.range.empty()) continue;
    position.heap = heap.key;
    position.address = place.range.begin;
    position.cell.reset();
    select_frame_of_block(position, place.slot ? frame_of_stack(moment->stream(heap.key).definitions(),
                                                                moment->state_of(heap.key).slots()[*place.slot].stack)
                                               : FrameKey());
    show_view(state, ViewKind::heap_map);
    return;
  }
  state.window.notice = "No heap has memory at " + address_text(address) + " at this time.";
}

void find_step(AppState& state, bool forward) {
  if (shows_blocks(state) && !state.position().request.where.empty()) return step_hit(state, forward);
  state.window.find_step = forward ? 1 : -1;
  ++state.window.find_step_serial;
}

}  // namespace

namespace apply {

// One line each, as in a table.
// clang-format off
void go_to(AppParts& parts) { parts.state.window.palette_open = true; }
void go_to_address(AppParts& parts, const std::uint64_t& address) { gui::go_to_address(parts.state, address); }
void go_to_largest_free(AppParts& parts) { gui::go_to_largest_free(parts.state); }
void set_block_order(AppParts& parts, const BlockSorting& sorting) {
  BlockQuery& blocks = parts.state.context().position.blocks;
  blocks.order = sorting.order;
  blocks.is_ascending = sorting.is_ascending;
}
// Where blocks are shown, Find is the filter.
void find(AppParts& parts) {
  ++(shows_blocks(parts.state) ? parts.state.window.filter_serial : parts.state.window.find_serial);
}
void find_next(AppParts& parts) { find_step(parts.state, true); }
void find_previous(AppParts& parts) { find_step(parts.state, false); }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
