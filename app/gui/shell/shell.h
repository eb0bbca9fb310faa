// The whole window: menu, filter line, dock space with the views of the active file, status line; the first-launch
// screen while nothing is open; palette, help and file dialog on top. Everything between ImGui::NewFrame and Render.
#pragma once

#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// State that views keep for themselves between frames: scroll position, sort order, half-typed text.
struct ViewStates;

struct ShellState {
  ShellState();
  ~ShellState();
  ShellState(const ShellState&) = delete;
  ShellState& operator=(const ShellState&) = delete;

  std::unique_ptr<ViewStates> views;
};

void draw_shell(const AppState& state, ShellState& shell, CommandQueue& commands);

}  // namespace hbmscope::gui
