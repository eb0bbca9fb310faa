// The bar right of a zoomed heap map, or above a strip: the whole heap, how full each part is, the visible part, and
// the positions of the largest free block, the selection and the hits.
#pragma once

#include <cstdint>
#include <optional>

#include "app/gui/look/theme.h"
#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

// While the mouse button is down: the address that is to be in the middle of the picture.
std::optional<std::uint64_t> draw_minimap(const Look& look, HeapMapState& map, ImVec2 at, float length, float thickness,
                                          const HeapSpan* selected);

}  // namespace hbmscope::gui
