// Totals of all open files: one point a file, ordered by time, or by opening where the files have no time; the axis
// says which. A click brings the file to the front.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct TotalsState {
  std::uint64_t copy_seen = 0;
};

void draw_totals(const AppState& state, TotalsState& totals, CommandQueue& commands);

}  // namespace hbmscope::gui
