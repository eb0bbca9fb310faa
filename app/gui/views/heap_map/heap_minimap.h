// How full each part of a heap is, for the narrow strip next to a zoomed heap map.
#pragma once

#include <vector>

#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {

// Divides the heap's regions, end to end, into `lines` equal parts and returns the share in use of each, 0 to 1. Walks
// over all blocks.
std::vector<float> compute_minimap(const HeapSpans& map, int lines);

// The place of an address, 0 to 1; outside all regions, that of the next region's start.
double minimap_place(const HeapSpans& map, std::uint64_t address);
// The address at a place; the last one for 1 and above. The map must have a region.
std::uint64_t address_of_minimap(const HeapSpans& map, double place);

}  // namespace hbmscope::gui
