// The lines over a heap map: which heap and layer, how it is coloured, how large a pixel is, and the state of the heap
// in a sentence.
#pragma once

#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

void draw_map_head(const AppState& state, const HeapMapState& map, const HeapMapAnswer& answer, CommandQueue& commands);

}  // namespace hbmscope::gui
