// The strip next to a zoomed heap map: the whole heap, how full each part is, which part is in the picture, and where
// the largest free block, the selection and the hits are.
#pragma once

#include <cstdint>
#include <optional>

#include "app/gui/look/theme.h"
#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

// The address under the pointer while the button is down.
std::optional<std::uint64_t> draw_minimap(const Look& look, HeapMapState& map, ImVec2 at, ImVec2 size,
                                          const HeapPiece* selected);

}  // namespace hbmscope::gui
