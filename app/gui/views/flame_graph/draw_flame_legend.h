// The legend of files. Hovering over an entry dims the rest; a click filters by the file.
#pragma once

#include <cstddef>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The hue under the pointer, or hue_count + 1 if there is none.
std::size_t draw_flame_legend(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
