#include "app/gui/core/heap_pieces.h"

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

HeapPiece piece_from_block(const LiveBlock& block) {
  HeapPiece piece{block.address, block.size, 0, block.slot, PieceKind::block, several_shade, block.is_pending()};
  if (block.requested < block.size) piece.waste = block.size - block.requested;
  return piece;
}

// The address space merges adjacent regions that may share blocks; other regions stay separate even if they touch.
void add_regions(HeapPieces& map, const StreamState& state, std::uint32_t heap) {
  const AddressSpace& space = state.heap(heap).space;
  const std::vector<std::uint32_t> slots = slots_by_place(state, heap);
  map.pieces.reserve(space.blocks() + space.free_chunks());
  space.for_each_region([&](AddressRange range) { map.regions.push_back({range, 0, 0}); });
  std::size_t region = 0;
  space.for_each_chunk([&](const HeapChunk& chunk) {
    while (chunk.range.begin >= map.regions[region].range.end) {
      map.regions[region].last = map.pieces.size();
      map.regions[++region].first = map.pieces.size();
    }
    if (chunk.state == ChunkState::block && slots[static_cast<std::size_t>(chunk.block)] != no_slot) {
      map.pieces.push_back(piece_from_block(state.slots()[slots[static_cast<std::size_t>(chunk.block)]]));
    } else {
      map.pieces.push_back({chunk.range.begin, chunk.range.size(), 0, 0, PieceKind::free, several_shade, false});
    }
  });
  if (!map.regions.empty()) map.regions[region].last = map.pieces.size();
  map.blocks_not_drawn = space.loose_blocks().size();
}

void add_loose_blocks(HeapPieces& map, const StreamState& state, std::uint32_t heap) {
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
      map.regions.push_back({{block.address, block.address}, map.pieces.size(), map.pieces.size()});
    } else if (block.address > before) {
      map.pieces.push_back({before, block.address - before, 0, 0, PieceKind::not_identified, several_shade, false});
    }
    map.pieces.push_back(piece_from_block(block));
    map.regions.back().range.end = map.pieces.back().end();
    map.regions.back().last = map.pieces.size();
  }
}

void keep_larger(const HeapPieces& map, std::optional<std::size_t>& largest, std::size_t piece) {
  if (!largest || map.pieces[piece].size > map.pieces[*largest].size) largest = piece;
}

void find_ends(HeapPieces& map, const StreamState& state, std::uint32_t heap) {
  const EndBounds bounds = find_end_bounds(state, heap);
  for (std::size_t i = 0; i < map.pieces.size(); ++i) {
    HeapPiece& piece = map.pieces[i];
    if (piece.kind == PieceKind::block) {
      const bool is_upper = (state.slots()[piece.slot].flags & wire::block_flag::upper_end) != 0;
      piece.ends = is_upper ? PieceEnd::upper : PieceEnd::lower;
    } else if (piece.kind == PieceKind::free) {
      const AddressRange range{piece.begin, piece.end()};
      const bool is_for_lower = bounds.is_for_lower(range);
      const bool is_for_upper = bounds.is_for_upper(range);
      piece.ends = is_for_lower ? (is_for_upper ? PieceEnd::both : PieceEnd::lower)
                                : (is_for_upper ? PieceEnd::upper : PieceEnd::neither);
      if (is_for_lower) keep_larger(map, map.largest_lower, i);
      if (is_for_upper) keep_larger(map, map.largest_upper, i);
    }
  }
}

}  // namespace

std::vector<ShadeEntry> choose_shades(std::vector<ShadedName>& names, std::string_view rest_name,
                                      const std::function<Shade(std::size_t)>& shade_of) {
  std::vector<std::size_t> order(names.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return names[a].weight > names[b].weight; });
  std::vector<ShadeEntry> legend;
  ShadeEntry rest;
  for (const std::size_t name : order) {
    ShadeEntry& entry = names[name].entry;
    entry.shade = shade_of(name);
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

Shade hue_shade(std::string_view name, ColorKeeper& colors) {
  if (name.starts_with('(')) return several_shade;
  colors.add({std::string(name)});
  const std::size_t hue = colors.hue_of(name);
  return hue == no_hue ? several_shade : static_cast<Shade>(hue);
}

Shade size_step_of(std::uint64_t bytes) {
  const auto& borders = size_step_borders;
  return static_cast<Shade>(std::upper_bound(borders.begin(), borders.end(), bytes) - borders.begin());
}

const HeapPiece* HeapPieces::find(std::uint64_t address) const {
  const auto region = std::upper_bound(regions.begin(), regions.end(), address,
                                       [](std::uint64_t at, const PieceRegion& one) { return at < one.range.end; });
  if (region == regions.end() || address < region->range.begin) return nullptr;
  const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(region->first);
  const auto last = pieces.begin() + static_cast<std::ptrdiff_t>(region->last);
  const auto piece =
      std::upper_bound(first, last, address, [](std::uint64_t at, const HeapPiece& one) { return at < one.end(); });
  return piece == last ? nullptr : &*piece;
}

HeapPieces compute_heap_pieces(const Stream& stream, const StreamState& state, std::uint32_t heap,
                               HeapColoring coloring, const ColorKeeper& colors, const ColoringFacts& facts) {
  HeapPieces map;
  map.colors = colors;
  map.coloring = coloring == HeapColoring::automatic ? choose_coloring(state, heap) : coloring;
  map.knows_regions = state.heap(heap).space.knows_regions();
  if (map.knows_regions) {
    add_regions(map, state, heap);
  } else {
    add_loose_blocks(map, state, heap);
  }
  map.has_two_ends = map.knows_regions && stream.definitions().heap(heap).has(wire::heap_flag::has_two_ends);
  if (map.has_two_ends) find_ends(map, state, heap);
  for (const PieceRegion& region : map.regions) map.region_bytes += region.range.size();
  for (std::size_t i = 0; i < map.pieces.size(); ++i)
    if (map.pieces[i].kind == PieceKind::free) keep_larger(map, map.largest_free, i);
  const Coloring& row = row_of(map.coloring);
  const ColoringInput input{stream, state, heap, facts};
  if (row.shade != nullptr) {
    row.shade(map, input);
  } else if (row.names != nullptr) {
    shade_by_name(map, input, *row.names);
  } else if (row.steps != nullptr) {
    shade_by_steps(map, input, *row.steps);
  }
  return map;
}

}  // namespace hbmscope::gui
