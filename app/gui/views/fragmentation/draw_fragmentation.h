// Is the heap fragmented? The ruler, the percentage with the figures behind it, why the pool is larger than what was
// requested, free blocks by size, and the largest changes.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_document.h"

namespace hbmscope::gui {

struct FragmentationState {
  std::uint64_t copy_seen = 0;
  DocumentState device;
};

void draw_fragmentation(const AppState& state, FragmentationState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
