// What was allocated and released in the selected range, and what is still live at its end: leak suspects.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct RangeViewState {
  bool by_stack = false;  // False: by line of your code.
  std::shared_ptr<const RangeAnswer> table_of;
  bool table_by_stack = false;
  Table table;
  TableState code_rows, stack_rows;
  std::uint64_t copy_seen = 0;
};

void draw_range(const AppState& state, RangeViewState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
