// The open files, each with its devices and a bar of what they hold, by kind. A click on a file makes it active; a
// click on a device filters by that device.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/sources_panel/draw_bookmarks.h"

namespace hbmscope::gui {

void draw_sources(const AppState& state, BookmarksState& bookmarks, CommandQueue& commands);

}  // namespace hbmscope::gui
