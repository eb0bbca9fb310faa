// The strip next to a zoomed heap map: the whole heap, how full each part is, the visible part, and the positions of
// the largest free block, the selection and the hits.
#pragma once

#include <cstdint>
#include <optional>

#include "app/gui/look/theme.h"
#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

// The address under the pointer while the mouse button is down.
std::optional<std::uint64_t> draw_minimap(const Look& look, HeapMapState& map, ImVec2 at, ImVec2 size,
                                          const HeapSpan* selected);

}  // namespace hbmscope::gui
