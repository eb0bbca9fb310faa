// How large and how old blocks are, how large the gaps between them, how long those lived that are gone.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct SizesState {
  bool by_events = false;  // Ages and lifetimes; else in time, where the source has times.
  std::uint64_t copy_seen = 0;
};

void draw_sizes(const AppState& state, SizesState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
