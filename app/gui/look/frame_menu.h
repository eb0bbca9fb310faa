// What can be done with a frame wherever it is shown: the same menu, the same words, in every view.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

// To be called right after an item that stands for the frame; opens on a right click.
void draw_frame_menu(const Frame& frame, CommandQueue& commands);

// Selects the frame, or nothing where it is selected already.
void select_frame(const AppState& state, const Frame& frame, CommandQueue& commands);

// Puts a view's table on the clipboard in the form that was asked for.
void copy_table(const AppState& state, const TextTable& table, CommandQueue& commands);

// Does the name or file of the frame hold what Find looks for? Upper and lower case alike; true for an empty text.
bool found_by(std::string_view find, const Frame& frame);

}  // namespace hbmscope::gui
