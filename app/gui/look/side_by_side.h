// Draws a view twice, for the left side (A) and the right side (B). Each half pushes commands and asks questions for
// its own side; a click makes its side the active one.
#pragma once

#include <functional>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Which half of which view had the focus in the previous frame. A change means that the user clicked.
struct SideFocus {
  unsigned child = 0;
};

// `draw` draws the view of the bound context.
void draw_sides(const AppState& state, const ViewRow& row, SideFocus& focus, CommandQueue& commands,
                const std::function<void()>& draw);

// The menu that locks the times of both sides together.
void draw_lock(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
