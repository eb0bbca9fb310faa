// Compares the heaps of both sides in figures and sentences: the differences between two runs, ranks or configurations,
// and their reasons.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_document.h"

namespace hbmscope::gui {

struct SideBySideState {
  DocumentState words;
  TableState figures;
  std::uint64_t copy_seen = 0;
};
void draw_side_by_side(const AppState& state, SideBySideState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
