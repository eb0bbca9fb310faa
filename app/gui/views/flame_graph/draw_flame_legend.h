// Which colour is which file: hovering an entry dims the rest, clicking it filters to the file.
#pragma once

#include <cstddef>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The hue under the pointer; hue_count + 1 where there is none.
std::size_t draw_flame_legend(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
