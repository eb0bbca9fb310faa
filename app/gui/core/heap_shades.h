// Shades of a heap's blocks by one property that each of them has, with the legend that goes with them. Names of code,
// tags and streams get hues instead (heap_pieces.h).
#pragma once

#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

void shade_by_size(HeapPieces& map);
void shade_by_age(HeapPieces& map, const StreamState& state);
void shade_by_state(HeapPieces& map);
void shade_by_waste(HeapPieces& map);

// From its allocation to the event that ends it, in time where the stream has times, else in events. Of a block that
// lives to the end, or is older than the stream, it is unknown.
void shade_by_lifetime(HeapPieces& map, const Stream& stream, const StreamState& state, const ColoringFacts& facts);

// By what became of blocks between the pinned moment and the one that is shown.
void shade_by_change(HeapPieces& map, const Stream& stream, const StreamState& state, std::uint32_t heap,
                     const ColoringFacts& facts);

}  // namespace hbmscope::gui
