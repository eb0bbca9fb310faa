// The style of ImGui and the few sizes that views share. All colours come from the palette.
#pragma once

#include <imgui.h>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Theme and scale, read at the start of a view.
struct Look {
  Theme theme = Theme::dark;
  float unit = 1;  // One pixel of a 96-dpi display at 100 % text.

  explicit Look(const AppState& state);
  ImU32 role(Role role, float opacity = 1) const;
  ImVec4 vec(Role role, float opacity = 1) const;
  ImU32 color(Color color, float opacity = 1) const;
  Color rgb(Role role) const { return color_of(theme, role); }
  ImU32 hue(std::size_t hue) const { return role(role_from_hue(hue)); }
  // The bar behind a figure: the first category hue over the panel, faint enough for text on it.
  ImU32 bar() const;
  float px(float size) const { return size * unit; }
};

ImFont* bold_font();
ImFont* mono_font();

// Sets colours, sizes and font scale of ImGui and ImPlot. `scale` is the display's scale (1 at 96 dpi), and is
// multiplied by the text scale of the settings. Call it before the first frame and whenever theme, text scale or
// display change; calling it before each NewFrame is fine too. The platform loads the fonts, the text font first; sizes
// follow style.FontSizeBase (ImGui 1.92 and later rasterize glyphs at any size).
void apply_theme(const AppState& state, float scale);

}  // namespace hbmscope::gui
