// The shades of a heap's blocks, by one property that each of them has, with the legend that belongs to them. Rows of
// coloring.cpp name these functions.
#pragma once

#include "app/gui/core/coloring.h"
#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

// Names (lines of code, tags, streams) keep the hue that they have; the largest of the others get what is left of the
// eight. The rest is neutral, and so is what has no name: a name that begins with a bracket.
void shade_by_name(HeapPieces& map, const ColoringInput& input, const NamesOfBlocks& names);
void shade_by_steps(HeapPieces& map, const ColoringInput& input, const StepsOfBlocks& steps);

// "size>=1 size<2": of a field's values those from `first` on, and below `end`; an empty one is no border.
std::string where_between(std::string_view field, const std::string& first, const std::string& end);

void shade_by_age(HeapPieces& map, const ColoringInput& input);
void shade_by_state(HeapPieces& map, const ColoringInput& input);
void shade_by_waste(HeapPieces& map, const ColoringInput& input);

// From its allocation to the event that ends it, in time where the stream has times, else in events. Unknown for a
// block that lives to the end, or is older than the stream.
void shade_by_lifetime(HeapPieces& map, const ColoringInput& input);

// By what became of the blocks between the pinned moment and the one that is shown.
void shade_by_change(HeapPieces& map, const ColoringInput& input);

}  // namespace hbmscope::gui
