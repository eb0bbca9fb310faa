// The command palette: a few letters find any command, place or function.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct PaletteState {
  std::string typed;
  std::size_t chosen = 0;
  bool was_open = false;
  std::size_t rows = 0;           // In the last frame.
  std::vector<CommandId> recent;  // The last one first.
};

void draw_palette(const AppState& state, PaletteState& palette, CommandQueue& commands);

}  // namespace hbmscope::gui
