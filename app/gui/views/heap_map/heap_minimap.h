// A whole heap in a narrow strip: how full each part of it is. The heap map shows it while it is zoomed.
#pragma once

#include <vector>

#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

// For each of `lines` equal parts of the heap's regions, end to end, the share in use: 0 to 1. Walks over all blocks.
std::vector<float> compute_minimap(const HeapPieces& map, int lines);

// The place of an address in it, 0 to 1; for one outside all regions, where the next region begins.
double minimap_place(const HeapPieces& map, std::uint64_t address);
// The address at a place; the last one for 1 and beyond. The map must have a region.
std::uint64_t address_of_minimap(const HeapPieces& map, double place);

}  // namespace hbmscope::gui
