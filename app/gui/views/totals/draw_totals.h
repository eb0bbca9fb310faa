// The totals of all open files, one point per file, ordered by time, or in the order of opening if the files have no
// times; the axis says which. A click makes the file active.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/document/document.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct TotalsState {
  std::shared_ptr<const SeriesAnswer> of;  // The files in the table.
  Table table;
  TableState rows;
  std::uint64_t copy_seen = 0;
};

void draw_totals(const AppState& state, TotalsState& totals, CommandQueue& commands);

}  // namespace hbmscope::gui
