// What the file is, how much is held, on which devices and of which kinds, and what the file does not contain.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_document.h"

namespace hbmscope::gui {

struct SummaryState {
  std::uint64_t copy_seen = 0;
  bool how_open = false;  // "How to get them" is expanded.
  DocumentState tables;
};

void draw_summary(const AppState& state, SummaryState& summary, CommandQueue& commands);

}  // namespace hbmscope::gui
