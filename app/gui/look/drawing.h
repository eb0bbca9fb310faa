// The small parts of all views: right-aligned figures, bars behind them, dim text, the double line of a selection,
// tooltips.
#pragma once

#include <string>
#include <string_view>

#include <imgui.h>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

void text(std::string_view words);
void dim_text(std::string_view words);
void bold_text(std::string_view words);
void wrapped_text(std::string_view words, bool dim = false);

// The title of a column in a row of headers; right-aligned over figures.
void table_header(int column, bool right);
// The whole row; columns [numbers_from, numbers_to) hold figures.
void table_headers(int numbers_from, int numbers_to);

// In a table cell, or in the rest of the line.
void right_text(std::string_view words, bool dim = false);

// Text in a table cell, shortened to fit; the full text is then in a tooltip.
void cell_text(std::string_view words, bool dim = false);

// A figure over a bar that fills `share` (0 to 1) of the cell.
void bar_cell(const Look& look, double share, std::string_view words, ImU32 fill);

// A bar from the middle of the cell: to the right for growth, to the left for shrinkage. `outline`: gone.
void delta_cell(const Look& look, double share, std::string_view words, bool outline);

// White in black or black in white, 2 + 1 px, inside the box.
void draw_selection(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to);

// 45 degrees, 2 px of `lines` every 5.
void draw_hatch(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, ImU32 lines);

// Shows `words` while the pointer rests on the previous item.
void tooltip(std::string_view words);

// Text that can be clicked; for crumbs and links.
bool link(const char* label);

// Whether this width fits behind the previous item, in its line.
bool has_room_behind(float width, float gap = -1);
// Puts the next item, which has this width, in the line of the previous one if it fits, else in a new line.
void flow(float width, float gap = -1);
float button_width(const char* label);
// Dim text behind the previous item, shortened to leave this room at the end of the line; nothing where there is too
// little.
void draw_rest_of_line(std::string_view words, float room_behind);

// Shortened to `width`, with "..." at its end (or in front, for paths).
std::string shortened(std::string_view words, float width, bool keep_end = false);

}  // namespace hbmscope::gui
