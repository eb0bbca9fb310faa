// How full each part of a heap is, for the bar next to a heap map.
#pragma once

#include <vector>

#include "app/gui/core/heap_line.h"

namespace hbmscope::gui {

// Divides the heap's line into `parts` equal parts and returns the share in use of each, 0 to 1. Walks over all blocks.
std::vector<float> compute_minimap(const HeapSpans& map, const HeapLine& line, int parts);

// The place of an address, 0 to 1; outside all regions, that of the next region's start.
double minimap_place(const HeapLine& line, std::uint64_t address);
// The address at a place; in a notch the next region's start, and the last address for 1 and above. The map must have a
// region.
std::uint64_t address_of_minimap(const HeapSpans& map, const HeapLine& line, double place);

}  // namespace hbmscope::gui
