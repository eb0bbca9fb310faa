// The context menu of a frame, the same in every view.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// Call it right after the item of the frame. It opens on a right click.
void draw_frame_menu(const AppState& state, const Frame& frame, CommandQueue& commands);

// Copies the table of a view in the requested form.
void copy_table(const AppState& state, const TextTable& table, CommandQueue& commands);

// Whether the frame's name or file contains `find`, ignoring case; true for an empty `find`.
bool found_by(std::string_view find, const Frame& frame);

}  // namespace hbmscope::gui
