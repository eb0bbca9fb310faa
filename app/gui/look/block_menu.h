// The context menu of a block, the same in every view.
#pragma once

#include "analysis/trace/trace.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// Call it right after the item of the block, or with the id of a popup that was opened for it. It opens on a right
// click.
void draw_block_menu(const Trace& trace, HeapKey heap, const LiveBlock& block, CommandQueue& commands);
// Its entries, in a popup that is open.
void draw_block_menu_items(const Trace& trace, HeapKey heap, const LiveBlock& block, CommandQueue& commands);

}  // namespace hbmscope::gui
