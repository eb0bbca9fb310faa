#include "app/gui/core/heap_spans.h"

#include <algorithm>
#include <array>
#include <bit>

#include "analysis/query/heap_metrics.h"
#include "analysis/query/profile_view.h"
#include "app/gui/core/heap_shades.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint32_t no_slot = 0xffffffff;

std::vector<std::uint32_t> slots_by_place(const StreamState& state, std::uint32_t heap) {
  std::vector<std::uint32_t> slots(state.heap(heap).space.block_index_bound(), no_slot);
  for (const LiveBlock& block : state.slots())
    if (block.heap == heap) slots[static_cast<std::size_t>(block.place)] = block.slot;
  return slots;
}

HeapSpan span_from_block(const LiveBlock& block) {
  HeapSpan span{block.address, block.size, 0, block.slot, SpanKind::block, several_shade, block.is_pending()};
  if (block.requested < block.size) span.waste = block.size - block.requested;
  return span;
}

// The address space merges adjacent regions that may share blocks; other regions stay separate even if they touch.
void add_regions(HeapSpans& map, const StreamState& state, std::uint32_t heap) {
  const AddressSpace& space = state.heap(heap).space;
  const std::vector<std::uint32_t> slots = slots_by_place(state, heap);
  map.spans.reserve(space.blocks() + space.free_chunks());
  space.for_each_region([&](AddressRange range) { map.regions.push_back({range, 0, 0}); });
  std::size_t region = 0;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    while (chunk.range.begin >= map.regions[region].range.end) {
      map.regions[region].last = map.spans.size();
      map.regions[++region].first = map.spans.size();
    }
    if (chunk.state == ChunkState::block && slots[static_cast<std::size_t>(chunk.block)] != no_slot) {
      map.spans.push_back(span_from_block(state.slots()[slots[static_cast<std::size_t>(chunk.block)]]));
    } else {
      map.spans.push_back({chunk.range.begin, chunk.range.size(), 0, 0, SpanKind::free, several_shade, false});
    }
  });
  if (!map.regions.empty()) map.regions[region].last = map.spans.size();
  map.blocks_not_drawn = space.loose_blocks().size();
}

void add_loose_blocks(HeapSpans& map, const StreamState& state, std::uint32_t heap) {
  const AddressSpace& space = state.heap(heap).space;
  const std::vector<std::uint32_t> slots = slots_by_place(state, heap);
  for (const BlockIndex index : space.loose_blocks()) {
    const std::uint32_t slot = slots[static_cast<std::size_t>(index)];
    if (slot == no_slot) continue;
    const LiveBlock block = state.slots()[slot];
    const std::uint64_t before = map.regions.empty() ? 0 : map.regions.back().range.end;
    if (!block.has_address() || block.size == 0 || (!map.regions.empty() && block.address < before)) {
      ++map.blocks_not_drawn;
      continue;
    }
    if (map.regions.empty() || block.address - before > loose_gap_max) {
      map.regions.push_back({{block.address, block.address}, map.spans.size(), map.spans.size()});
    } else if (block.address > before) {
      map.spans.push_back({before, block.address - before, 0, 0, SpanKind::not_identified, several_shade, false});
    }
    map.spans.push_back(span_from_block(block));
    map.regions.back().range.end = map.spans.back().end();
    map.regions.back().last = map.spans.size();
  }
}

void keep_larger(const HeapSpans& map, std::optional<std::size_t>& largest, std::size_t span) {
  if (!largest || map.spans[span].size > map.spans[*largest].size) largest = span;
}

void find_ends(HeapSpans& map, const StreamState& state, std::uint32_t heap) {
  const EndBounds bounds = find_end_bounds(state, heap);
  for (std::size_t i = 0; i < map.spans.size(); ++i) {
    HeapSpan& span = map.spans[i];
    if (span.kind == SpanKind::block) {
      const bool is_upper = (state.slots()[span.slot].flags & wire::block_flag::upper_end) != 0;
      span.ends = is_upper ? SpanEnd::upper : SpanEnd::lower;
    } else if (span.kind == SpanKind::free) {
      const AddressRange range{span.begin, span.end()};
      const bool is_for_lower = bounds.is_for_lower(range);
      const bool is_for_upper = bounds.is_for_upper(range);
      span.ends = is_for_lower ? (is_for_upper ? SpanEnd::both : SpanEnd::lower)
                               : (is_for_upper ? SpanEnd::upper : SpanEnd::neither);
      if (is_for_lower) keep_larger(map, map.largest_lower, i);
      if (is_for_upper) keep_larger(map, map.largest_upper, i);
    }
  }
}

void add_blocks(HeapSpans& map, const StreamState& state, std::uint32_t heap) {
  map.knows_regions = state.heap(heap).space.knows_regions();
  if (map.knows_regions)
    add_regions(map, state, heap);
  else
    add_loose_blocks(map, state, heap);
  for (const HeapSpan& span : map.spans) {
    if (span.kind != SpanKind::block || span.size == 0) continue;
    map.block_bytes[std::bit_width(span.size) - 1] += span.size;
    map.waste_bytes += span.waste;
    map.pending_bytes += span.is_pending ? span.size : 0;
  }
}

struct PlacedRange {
  AddressRange range;
  bool joins = false;
};
// Ranges that overlap become one, and those that are at most `gap` apart, if both join.
std::vector<AddressRange> merged(std::vector<PlacedRange> all, std::uint64_t gap) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  std::vector<AddressRange> ranges;
  bool joins = false;
  for (const PlacedRange& one : all) {
    const bool is_near = !ranges.empty() && one.range.begin >= ranges.back().end &&
                         one.range.begin - ranges.back().end <= gap && joins && one.joins;
    if (is_near || (!ranges.empty() && one.range.begin < ranges.back().end))
      ranges.back().end = std::max(ranges.back().end, one.range.end);
    else
      ranges.push_back(one.range);
    joins = one.joins;
  }
  return ranges;
}

std::uint64_t bytes_of(const std::vector<AddressRange>& ranges) {
  std::uint64_t bytes = 0;
  for (const AddressRange& range : ranges) bytes += range.size();
  return bytes;
}

}  // namespace

HeapExtent compute_heap_extent(const Stream& stream, std::uint32_t heap) {
  HeapExtent extent;
  extent.peak_position = stream.peak(heap).position;
  extent.regions_ever = stream.regions_ever().size();
  HeapSpans peak;
  add_blocks(peak, stream.state_at(extent.peak_position), heap);
  extent.block_bytes = peak.block_bytes;
  if (!peak.knows_regions) {
    for (const SpanRegion& region : peak.regions) extent.ranges.push_back(region.range);
    extent.pool_bytes = bytes_of(extent.ranges);
    return extent;
  }
  for (const TimelineBucket& bucket : stream.timeline(heap).buckets(0, stream.end_position(), 1))
    extent.pool_bytes = bucket.most.pool;
  std::vector<PlacedRange> all;
  for (const RegionRange& one : stream.regions_ever())
    if (one.heap == heap) all.push_back({one.range, one.joins_neighbours});
  extent.ranges = merged(std::move(all), 0);
  // A job that takes its memory at other addresses again and again would have a map of holes.
  constexpr std::uint64_t holes_max = 2;
  if (bytes_of(extent.ranges) / (1 + holes_max) > extent.pool_bytes) extent.ranges.clear();
  return extent;
}

void make_places(HeapSpans& map, const HeapExtent& extent) {
  std::vector<PlacedRange> all;
  for (const AddressRange& range : extent.ranges) all.push_back({range, !map.knows_regions});
  for (const SpanRegion& region : map.regions) all.push_back({region.range, !map.knows_regions});
  map.places = merged(std::move(all), map.knows_regions ? 0 : loose_gap_max);
  map.place_bytes = bytes_of(map.places);
  map.scale_bytes = std::max(map.place_bytes, extent.pool_bytes);
}

std::vector<ShadeEntry> legend_of(const std::vector<ShadedName>& names, std::string_view rest_name) {
  std::vector<std::size_t> order(names.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return names[a].weight > names[b].weight; });
  std::vector<ShadeEntry> legend;
  ShadeEntry rest;
  for (const std::size_t name : order) {
    const ShadeEntry& entry = names[name].entry;
    if (names[name].weight == 0) continue;
    if (entry.shade != several_shade) {
      legend.push_back(entry);
    } else {
      rest.name = rest.name.empty() ? entry.name : rest_name;
      rest.bytes += entry.bytes;
      rest.blocks += entry.blocks;
    }
  }
  if (rest.blocks > 0) legend.push_back(rest);
  return legend;
}

Shade size_step_of(std::uint64_t bytes) {
  const auto& borders = size_step_borders;
  return static_cast<Shade>(std::upper_bound(borders.begin(), borders.end(), bytes) - borders.begin());
}

const HeapSpan* HeapSpans::find(std::uint64_t address) const {
  const auto region = std::upper_bound(regions.begin(), regions.end(), address,
                                       [](std::uint64_t at, const SpanRegion& one) { return at < one.range.end; });
  if (region == regions.end() || address < region->range.begin) return nullptr;
  const auto first = spans.begin() + static_cast<std::ptrdiff_t>(region->first);
  const auto last = spans.begin() + static_cast<std::ptrdiff_t>(region->last);
  const auto span =
      std::upper_bound(first, last, address, [](std::uint64_t at, const HeapSpan& one) { return at < one.end(); });
  return span == last ? nullptr : &*span;
}

HeapSpans compute_heap_spans(const Stream& stream, const StreamState& state, std::uint32_t heap, HeapColoring coloring,
                             const TraceColors& colors, const ColoringFacts& facts, const HeapExtent* extent) {
  HeapSpans map;
  const BlockLabels labels(stream);
  map.coloring = coloring == HeapColoring::automatic ? colors.automatic : coloring;
  add_blocks(map, state, heap);
  for (const SpanRegion& region : map.regions) map.region_bytes += region.range.size();
  make_places(map, extent != nullptr ? *extent : HeapExtent());
  if (extent != nullptr) map.block_bytes = extent->block_bytes;
  map.has_two_ends = map.knows_regions && stream.definitions().heap(heap).has(wire::heap_flag::has_two_ends);
  if (map.has_two_ends) find_ends(map, state, heap);
  for (std::size_t i = 0; i < map.spans.size(); ++i)
    if (map.spans[i].kind == SpanKind::free) keep_larger(map, map.largest_free, i);
  const Coloring& row = row_of(map.coloring);
  const ColoringInput input{stream, state, heap, labels, colors, facts};
  if (row.shade != nullptr) {
    row.shade(map, input);
  } else if (row.names != nullptr) {
    shade_by_name(map, input, row);
  } else if (row.steps != nullptr) {
    shade_by_steps(map, input, *row.steps);
  }
  return map;
}

}  // namespace hbmscope::gui
