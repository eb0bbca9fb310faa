// Sizes and ages of live blocks, sizes of the gaps between them, lifetimes of released blocks.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct SizesState {
  bool by_events = false;  // Ages and lifetimes in events; otherwise in time, if the source has times.
  std::uint64_t copy_seen = 0;
};

void draw_sizes(const AppState& state, SizesState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
