// Compares the heaps of both sides in figures and sentences: the differences between two runs, ranks or configurations,
// and their reasons.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct BesideState {
  std::uint64_t copy_seen = 0;
};
void draw_beside(const AppState& state, BesideState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
