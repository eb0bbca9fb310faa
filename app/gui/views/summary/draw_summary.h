// What this file is, how much is held, by which devices and kinds, and what the file does not contain.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct SummaryState {
  std::uint64_t copy_seen = 0;
  bool how_open = false;       // The text under "How to get them".
  bool own_code_open = false;  // All lines, not only the first.
};

void draw_summary(const AppState& state, SummaryState& summary, CommandQueue& commands);

}  // namespace hbmscope::gui
