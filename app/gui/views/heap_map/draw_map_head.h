// The lines above a heap map: the heap and layer, the coloring, the scale, and the state of the heap in one sentence.
#pragma once

#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

void draw_map_head(const AppState& state, const HeapMapState& map, const HeapMapAnswer& answer, CommandQueue& commands);

}  // namespace hbmscope::gui
