// The whole window: menu, filter line, dock space with the views of the file in front, status line; the first-launch
// screen while nothing is open; palette, help and file dialog on top. Everything between ImGui::NewFrame and Render.
#pragma once

#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// What views keep between frames that is nobody else's business: scroll, sort order, half-typed text.
struct ViewStates;

struct ShellState {
  ShellState();
  ~ShellState();
  ShellState(const ShellState&) = delete;
  ShellState& operator=(const ShellState&) = delete;

  std::unique_ptr<ViewStates> views;
};

void draw_shell(const AppState& state, ShellState& shell, CommandQueue& commands);

// Colours, sizes and font scale of ImGui and ImPlot. `scale` is the display's (1 at 96 dpi); the person's own text
// scale (settings) comes on top. To be called before the first frame and whenever theme, text scale or display change;
// it sets everything anew, so that calling it each frame before NewFrame is fine too. Fonts are loaded by the platform,
// the first one for text; sizes follow style.FontSizeBase (ImGui 1.92 and later bake glyphs at any size).
void apply_theme(const AppState& state, float scale);

}  // namespace hbmscope::gui
