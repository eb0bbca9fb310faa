// A heap at a moment as its map needs it: regions in the order of addresses, and in each of them its blocks and free
// pieces from end to end, with the colour that each has. Worked out once for a state and a coloring, off the frame;
// then any picture of it is one walk over what is visible (heap_raster.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/query/block_list_rows.h"
#include "analysis/trace/stream.h"
#include "app/gui/core/color_keeper.h"
#include "app/gui/core/coloring.h"

namespace hbmscope::gui {

enum class PieceKind : std::uint8_t {
  block,
  free,
  not_identified,  // Between blocks of a heap whose source does not tell what is free.
};

// Of a heap with two ends: where a block was taken from, and which end may take a free piece, since no block of the
// other one lies before it. The gap in the middle is for both.
enum class PieceEnd : std::uint8_t { both, lower, upper, neither };

// Of the change since a pinned moment. `gone` is of no piece: what went is in HeapPieces::gone.
namespace change_shade {
inline constexpr Shade same = 0, added = 1, grown = 2, shrunk = 3, moved = 4, gone = 5;
}

inline constexpr std::array<std::string_view, step_count> size_step_names{
    "under 64 KiB", "64 KiB to 1 MiB", "1 to 20 MiB", "20 to 128 MiB", "128 MiB to 1 GiB", "1 GiB and more"};
// PyTorch's own borders: small up to 1 MiB, large from 20 MiB (kSmallSize, kLargeBuffer of CUDACachingAllocator.cpp).
inline constexpr std::array<std::uint64_t, step_count - 1> size_step_borders{
    std::uint64_t{64} << 10, std::uint64_t{1} << 20, std::uint64_t{20} << 20, std::uint64_t{128} << 20,
    std::uint64_t{1} << 30};
Shade size_step_of(std::uint64_t bytes);

// Where the source does not tell regions, blocks closer than this lie in one: cudaMalloc maps whole pages of 2 MiB.
inline constexpr std::uint64_t loose_gap_max = std::uint64_t{32} << 20;

struct HeapPiece {
  std::uint64_t begin = 0, size = 0;
  std::uint64_t waste = 0;  // The block's end that nobody asked for.
  std::uint32_t slot = 0;   // Of a block: in the stream's state.
  PieceKind kind = PieceKind::free;
  Shade shade = several_shade;
  bool is_pending = false;  // Freed by the program, and not yet free.
  PieceEnd ends = PieceEnd::both;

  std::uint64_t end() const { return begin + size; }
  friend bool operator==(const HeapPiece&, const HeapPiece&) = default;
};

// Pieces [first, last) lie in it without a gap.
struct PieceRegion {
  AddressRange range;
  std::size_t first = 0, last = 0;
};

struct ShadeEntry {
  Shade shade = several_shade;
  std::string name;  // "step  optimizer.py:75", "1 to 8 MiB"
  std::uint64_t bytes = 0, blocks = 0;
  std::string where = {};  // Its blocks in the language of block_where_fields(); empty: it can't be said there.
};

// What the blocks of a line of code, a tag, a stream, a size have in common, and how much of the picture is theirs.
struct ShadedName {
  ShadeEntry entry;
  double weight = 0;
};
// Gives shades to names in the order of their weights, where shade_of(index) has one, and makes the legend: those that
// have none are one entry, by its name where it is one, else `rest_name`. Without weight, a name is in no legend.
std::vector<ShadeEntry> choose_shades(std::vector<ShadedName>& names, std::string_view rest_name,
                                      const std::function<Shade(std::size_t)>& shade_of);
// The hue that a name has or gets now. None for one that begins with a bracket: it stands for no name.
Shade hue_shade(std::string_view name, ColorKeeper& colors);

struct HeapPieces {
  HeapColoring coloring = HeapColoring::own_code;
  std::vector<PieceRegion> regions;
  std::vector<HeapPiece> pieces;
  ColorKeeper colors;                       // Of lines of code, with those that got theirs here.
  std::vector<ShadeEntry> legend;           // Those that have blocks; categories by bytes, steps in their order.
  std::vector<AddressRange> gone;           // Of the change: what blocks then took that live no longer, by address.
  std::optional<std::size_t> largest_free;  // In pieces; the one of the lowest address where several are as large.
  bool has_two_ends = false;
  std::optional<std::size_t> largest_lower, largest_upper;  // Of two ends: the largest free one for each.
  std::uint64_t region_bytes = 0;
  std::uint64_t blocks_not_drawn = 0;  // Over others, outside of all regions where these are told, or nowhere told.
  bool knows_regions = true;           // Else regions are where blocks lie close together, and nothing is called free.

  bool is_ordered() const { return row_of(coloring).is_ordered; }
  const HeapPiece* find(std::uint64_t address) const;  // nullptr where there is no memory.
  std::size_t memory_bytes() const {
    return pieces.size() * sizeof(HeapPiece) + gone.size() * sizeof(AddressRange) +
           regions.size() * sizeof(PieceRegion) + 4096;
  }
};

// What a coloring needs beside the state that is shown.
struct ColoringFacts {
  const StreamState* pinned = nullptr;  // Of the change: the same stream at the pinned moment.
  std::vector<LiveRow> live;            // Of lifetimes: what lives at the moment in all streams, with ends.
  std::uint32_t stream = 0;             // Which of them the heap belongs to.
};

// `colors`: the lines of code that have a hue already, and keep it.
HeapPieces compute_heap_pieces(const Stream& stream, const StreamState& state, std::uint32_t heap,
                               HeapColoring coloring, const ColorKeeper& colors = {}, const ColoringFacts& facts = {});

}  // namespace hbmscope::gui
