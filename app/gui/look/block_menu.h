// The context menu of a block, the same in every view.
#pragma once

#include "app/gui/core/block_actions.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Its entries, in a popup that is open.
void draw_block_menu(const BlockActions& actions, CommandQueue& commands);

}  // namespace hbmscope::gui
