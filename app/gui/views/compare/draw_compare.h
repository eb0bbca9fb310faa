// Two times of one trace: what is new, gone, grown or moved since the pinned time, in total and by line of code.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct CompareState {
  Table table;
  std::shared_ptr<const CompareAnswer> table_of;  // The answer that it was made from.
  TableState rows;
  std::uint64_t copy_seen = 0;
};

void draw_compare(const AppState& state, CompareState& compare, CommandQueue& commands);

}  // namespace hbmscope::gui
