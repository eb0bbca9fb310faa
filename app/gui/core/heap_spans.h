// The state of a heap in the form that its map needs: regions in address order, each divided without gaps into blocks
// and free blocks, with the colour of each. Computed once per state and coloring, outside the frame; drawing a picture
// is then one walk over the visible part (heap_raster.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/block_list_rows.h"
#include "analysis/trace/stream.h"
#include "app/gui/core/coloring.h"
#include "app/gui/core/trace_colors.h"

namespace hbmscope::gui {

enum class SpanKind : std::uint8_t {
  block,
  free,
  not_identified,  // Between blocks of a heap whose source does not report free memory.
};

// For heaps with two ends: the end from which a block was allocated, or the end that can use a free block because no
// block of the other end is in the way. The gap in the middle can be used by both.
enum class SpanEnd : std::uint8_t { both, lower, upper, neither };

// Shades of the change since the pinned time. No span has `gone`: released blocks are in HeapSpans::gone.
namespace change_shade {
inline constexpr Shade same = 0, added = 1, grown = 2, shrunk = 3, moved = 4, gone = 5;
}

inline constexpr std::array<std::string_view, step_count> size_step_names{
    "under 64 KiB", "64 KiB to 1 MiB", "1 to 20 MiB", "20 to 128 MiB", "128 MiB to 1 GiB", "1 GiB and more"};
// Borders used by PyTorch: small up to 1 MiB, large from 20 MiB (kSmallSize, kLargeBuffer in CUDACachingAllocator.cpp).
inline constexpr std::array<std::uint64_t, step_count - 1> size_step_borders{
    std::uint64_t{64} << 10, std::uint64_t{1} << 20, std::uint64_t{20} << 20, std::uint64_t{128} << 20,
    std::uint64_t{1} << 30};
Shade size_step_of(std::uint64_t bytes);

// If the source does not report regions, blocks closer than this are one region: cudaMalloc maps pages of 2 MiB.
inline constexpr std::uint64_t loose_gap_max = std::uint64_t{32} << 20;

struct HeapSpan {
  std::uint64_t begin = 0, size = 0;
  std::uint64_t waste = 0;  // Bytes at the end of the block that were not requested.
  std::uint32_t slot = 0;   // For blocks: the slot in the stream's state.
  SpanKind kind = SpanKind::free;
  Shade shade = several_shade;
  bool is_pending = false;  // Freed by the program, but not available yet.
  SpanEnd ends = SpanEnd::both;

  std::uint64_t end() const { return begin + size; }
  friend bool operator==(const HeapSpan&, const HeapSpan&) = default;
};

// Spans [first, last) fill the region without gaps.
struct SpanRegion {
  AddressRange range;
  std::size_t first = 0, last = 0;
};

struct ShadeEntry {
  Shade shade = several_shade;
  std::string name;  // "step  optimizer.py:75", "1 to 8 MiB"
  std::uint64_t bytes = 0, blocks = 0;
  std::string where = {};  // A filter that finds its blocks (block_where_fields()); empty if there is none.
};

// A property that blocks share (a line of code, a tag, a stream, a size) and its share of the picture.
struct ShadedName {
  ShadeEntry entry;
  double weight = 0;
};
// The entries by descending weight. Names without a shade of their own form one entry: it has the name itself if it is
// the only one, otherwise `rest_name`. Names without weight are left out.
std::vector<ShadeEntry> legend_of(const std::vector<ShadedName>& names, std::string_view rest_name);

// What a heap ever had, so that its map has the same scale and the same places at all times.
struct HeapExtent {
  std::vector<AddressRange> ranges;  // Ascending. Without reported regions: the areas of close blocks at the peak.
  std::uint64_t pool_bytes = 0;      // Of the largest pool; 0 if it is unknown.
  std::array<std::uint64_t, 64> block_bytes{};  // As HeapSpans::block_bytes, at the peak.
  std::uint64_t peak_position = 0;
  std::size_t regions_ever = 0;  // In the stream.

  // Whether it still holds for a stream that has grown since.
  bool is_of(const Stream& stream, std::uint32_t heap) const {
    return stream.regions_ever().size() == regions_ever && stream.peak(heap).position == peak_position;
  }
};
HeapExtent compute_heap_extent(const Stream& stream, std::uint32_t heap);

struct HeapSpans {
  HeapColoring coloring = HeapColoring::user_code;
  std::vector<SpanRegion> regions;
  std::vector<HeapSpan> spans;
  std::vector<ShadeEntry> legend;  // Entries with blocks; categories by bytes, steps in their order.
  // For the coloring by change: ranges of blocks that are no longer live, by address.
  std::vector<AddressRange> gone;
  std::optional<std::size_t> largest_free;  // Index in `spans`; the lowest address if there are several.
  bool has_two_ends = false;
  std::optional<std::size_t> largest_lower, largest_upper;  // For two ends: the largest free block of each.
  std::uint64_t region_bytes = 0;
  // Where the map has room: all memory that the heap ever had. Each region lies in one of them, or is one.
  std::vector<AddressRange> places;
  std::uint64_t place_bytes = 0;
  std::uint64_t scale_bytes = 0;  // The scale leaves room for as many, though the places may be fewer at this time.
  std::array<std::uint64_t, 64> block_bytes{};  // In blocks of at least 2^i bytes, and less than twice that.
  std::uint64_t waste_bytes = 0, pending_bytes = 0;
  std::uint64_t blocks_not_drawn = 0;  // They overlap others, have no address, or lie outside the known regions.
  bool knows_regions = true;           // False: regions are areas of close blocks, and no span is called free.

  bool is_ordered() const { return row_of(coloring).is_ordered; }
  const HeapSpan* find(std::uint64_t address) const;  // nullptr if there is no memory at the address.
  std::size_t memory_bytes() const {
    return spans.size() * sizeof(HeapSpan) + (gone.size() + places.size()) * sizeof(AddressRange) +
           regions.size() * sizeof(SpanRegion) + 4096;
  }
};
// Fills `places` for the regions.
void make_places(HeapSpans& map, const HeapExtent& extent);

// What a coloring needs in addition to the current state.
struct ColoringFacts {
  const StreamState* pinned = nullptr;  // For the change: the same stream at the pinned time.
  std::vector<LiveRow> live;            // For lifetimes: live blocks of all streams, with their ends.
  std::uint32_t stream = 0;             // The stream that the heap belongs to.
};

// `colors`: of the trace; without them no name has a hue. `extent`: without it the places are the regions.
HeapSpans compute_heap_spans(const Stream& stream, const StreamState& state, std::uint32_t heap, HeapColoring coloring,
                             const TraceColors& colors, const ColoringFacts& facts = {},
                             const HeapExtent* extent = nullptr);

}  // namespace hbmscope::gui
