// Commands that find blocks, sort them or step through them.
#include <algorithm>

#include "app/gui/core/answers.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {
namespace {

void select_in_heap(AppState& state, const HeapMapAnswer& answer, const HeapSpan& span) {
  ViewPosition& position = state.context().position;
  position.address = span.begin;
  position.selection = frame_of_span(answer, span);
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
    position.selection = {};
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
    position.selection = {};
    if (place.slot)
      position.selection =
          frame_of_stack(moment->stream(heap.key).definitions(), moment->state_of(heap.key).slots()[*place.slot].stack);
    show_view(state, ViewKind::heap_map);
    return;
  }
  state.window.notice = "No heap has memory at " + address_text(address) + " at this time.";
}

}  // namespace

bool apply_to_blocks(AppState& state, const Command& command) {
  ViewPosition& position = state.context().position;
  const bool has_trace = state.source() != nullptr && state.source()->trace;
  const bool is_about_blocks = has_trace && row_of(position.view).needs_addresses;
  using enum CommandId;
  switch (command.id) {
    case go_to: state.window.palette_open = true; return true;
    case CommandId::go_to_address: gui::go_to_address(state, command.as<std::uint64_t>()); return true;
    case set_block_order:
      position.blocks.order = command.as<BlockSorting>().order;
      position.blocks.is_ascending = command.as<BlockSorting>().is_ascending;
      return true;
    case find:
      if (!is_about_blocks) return false;
      ++state.window.filter_serial;
      return true;
    case find_next:
    case find_previous:
      if (!is_about_blocks || position.request.where.empty()) return false;
      step_hit(state, command.id == find_next);
      return true;
    case CommandId::go_to_largest_free: gui::go_to_largest_free(state); return true;
    case zoom_to_selection:
      if (!is_about_blocks || !position.address) return false;
      ++state.window.fit_selection_serial;
      return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui
