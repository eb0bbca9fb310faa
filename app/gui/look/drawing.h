// Small drawing functions that all views share: right-aligned figures, bars behind them, dim text, the double outline
// of a selection, tooltips.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <imgui.h>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// With large text or in a low window there is room for two rows of views instead of three, for one view in the upper
// row, and for cards of one line. The height of the window decides, and not that of the docks, which changes with the
// lines above them.
bool is_low_window();

void text(std::string_view words);
void dim_text(std::string_view words);
void bold_text(std::string_view words);
void wrapped_text(std::string_view words, bool dim = false);

// A column title in a header row; right-aligned over figures.
void table_header(int column, bool right);
// The whole header row; columns [numbers_from, numbers_to) hold figures.
void table_headers(int numbers_from, int numbers_to);

// Right-aligned in a table cell, or in the rest of the line.
void right_text(std::string_view words, bool dim = false);

// Text in a table cell, shortened to fit; a tooltip then shows the full text.
void cell_text(std::string_view words, bool dim = false);

// A figure over a bar that fills `share` (0 to 1) of the cell.
void bar_cell(const Look& look, double share, std::string_view words, ImU32 fill);

// A bar from the middle of the cell, to the right for growth and to the left for shrinkage. `outline`: the row is gone.
void delta_cell(const Look& look, double share, std::string_view words, bool outline);

// White in black or black in white, 2 + 1 px, inside the box.
void draw_selection(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to);

// In use, and behind it its pool, as shares of `whole`; without a pool, 0.
void draw_pool_bar(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, std::uint64_t in_use, std::uint64_t pool,
                   std::uint64_t whole);

// 45 degrees, 2 px of `lines` every 5.
void draw_hatch(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, ImU32 lines);

// Shows `words` while the pointer is over the previous item.
void tooltip(std::string_view words);

// Dims what is behind the window that is being drawn, and keeps the mouse from it: a dialog that asks something has the
// pointer alone, so that no tooltip of the page behind lies over it.
void cover_what_is_behind();

// Whether letters mean the current window, a picture: the one under the pointer, otherwise the one with the focus. Not
// while somebody types, or with Ctrl or Alt.
bool takes_letters();

// Clickable text, for breadcrumbs and links.
bool link(const char* label);
bool text_link(const char* label);  // The same as a part of a sentence: without a frame.
// A button in the accent colour: the one to begin with.
bool primary_button(const char* label, ImVec2 size = {0, 0});
// As high as the text, on the line of buttons.
bool check_box(const char* label, bool* is_on);
bool radio_button(const char* label, bool is_on);

// Whether an item of this width fits on the previous item's line.
bool has_room_behind(float width, float gap = -1);
// Puts the next item, of this width, on the previous item's line if it fits, otherwise on a new line.
void flow(float width, float gap = -1);
float button_width(const char* label);
// Dim text after the previous item, shortened to leave `room_behind` at the end of the line. Draws nothing if there is
// too little room.
void draw_rest_of_line(std::string_view words, float room_behind);

// Shortened to `width` with "..." at the end (or at the start, for paths).
std::string shortened(std::string_view words, float width, bool keep_end = false);

}  // namespace hbmscope::gui
