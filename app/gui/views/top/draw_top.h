// The frames that hold the most, sortable by any column, filtered by Find, with a bar behind each figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct TopState {
  int column = 0;  // Sort column of the table; the first is Flat.
  bool ascending = false;
  std::vector<std::uint32_t> rows;  // Rows of `rows_of`, sorted and filtered.
  Weight rows_flat;                 // Their sum.
  std::shared_ptr<const TopAnswer> rows_of;
  std::string rows_find;
  FrameKey shown;  // The selection that the view last scrolled to.
  std::uint64_t copy_seen = 0;
};

void draw_top(const AppState& state, TopState& top, CommandQueue& commands);

}  // namespace hbmscope::gui
