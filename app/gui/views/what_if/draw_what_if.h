// What would have happened under other settings: a field for one to try, and a table of those that people try.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct WhatIfState {
  std::string typed, seen;  // The field, and the words that it was last set to.
  TableState rows;
  std::uint64_t copy_seen = 0;
};

void draw_what_if(const AppState& state, WhatIfState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
