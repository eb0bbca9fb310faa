// All of a heap in a narrow strip: how full each part of it is. What the heap map shows beside itself while it is
// zoomed.
#pragma once

#include <vector>

#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

// For each of `lines` equal parts of the heap's regions, end to end, the share of it in use: 0 to 1. A walk over all
// pieces.
std::vector<float> compute_minimap(const HeapPieces& map, int lines);

// Where an address lies in it, 0 to 1; of one outside of all regions, where the next one begins.
double minimap_place(const HeapPieces& map, std::uint64_t address);
// The address at a place; the last one for 1 and beyond. The map must have a region.
std::uint64_t address_of_minimap(const HeapPieces& map, double place);

}  // namespace hbmscope::gui
