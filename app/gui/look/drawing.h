// The small pieces that all views are made of: figures aligned to the right, bars behind them, dim words, the
// selection's double line, tooltips.
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

// A column's title in a row of headers; those of figures stand on the right, over the figures.
void table_header(int column, bool right);
// The whole row; columns [numbers_from, numbers_to) hold figures.
void table_headers(int numbers_from, int numbers_to);

// In a table's cell or what is left of the line.
void right_text(std::string_view words, bool dim = false);

// Words in a table's cell: as many as fit; all of them in a tooltip where that is not all.
void cell_text(std::string_view words, bool dim = false);

// A figure over a bar that fills `share` (0 to 1) of the cell.
void bar_cell(const Look& look, double share, std::string_view words, ImU32 fill);

// A bar from the middle of the cell: to the right for growth, to the left for shrinkage. `outline`: gone.
void delta_cell(const Look& look, double share, std::string_view words, bool outline);

// White in black or black in white, 2 + 1 px, inside the box.
void draw_selection(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to);

// 45 degrees, 2 px of `lines` every 5.
void draw_hatch(ImDrawList& draw, const Look& look, ImVec2 from, ImVec2 to, ImU32 lines);

// Shows `words` after the usual rest of the pointer on the item before.
void tooltip(std::string_view words);

// A text that is a button; for crumbs and links.
bool link(const char* label);

// Whether so much fits behind the item before, in its line.
bool has_room_behind(float width, float gap = -1);
// What comes next, so wide, goes on in the line of the item before where it fits there; else it begins the next one.
void flow(float width, float gap = -1);
float button_width(const char* label);
// Dim words behind the item before, as many as leave room for what comes at the line's end; none where it is too
// little.
void draw_rest_of_line(std::string_view words, float room_behind);

// What fits into `width`, with "..." at its end (or in front, for paths).
std::string shortened(std::string_view words, float width, bool keep_end = false);

}  // namespace hbmscope::gui
