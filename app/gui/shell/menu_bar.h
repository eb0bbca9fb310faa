// The menus, made from the command table; the tooltip of a disabled command says why.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

void draw_menu_bar(const AppState& state, CommandQueue& commands);

}  // namespace hbmscope::gui
