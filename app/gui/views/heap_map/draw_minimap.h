// The strip beside a zoomed heap map: all of the heap, how full each part is, what of it is in the picture, and where
// the largest free block, what is selected and what was found lie.
#pragma once

#include <cstdint>
#include <optional>

#include "app/gui/look/theme.h"
#include "app/gui/views/heap_map/draw_heap_map.h"

namespace hbmscope::gui {

// The address that the person points at with the button down.
std::optional<std::uint64_t> draw_minimap(const Look& look, HeapMapState& map, ImVec2 at, ImVec2 size,
                                          const HeapPiece* selected);

}  // namespace hbmscope::gui
