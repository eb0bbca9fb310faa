// A view drawn twice, for what is on the left (A) and on the right (B). Each half pushes commands and asks questions of
// its own side; a click into one makes its side the active one.
#pragma once

#include <functional>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Which half of which view had the focus in the frame before: a person has clicked when it is another one.
struct SideFocus {
  unsigned child = 0;
};

// `draw` draws the view of the bound context.
void draw_sides(const AppState& state, const ViewRow& row, SideFocus& focus, CommandQueue& commands,
                const std::function<void()>& draw);

// How the moments are locked, as a choice.
void draw_lock(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
