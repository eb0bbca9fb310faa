// The columns of a table where room is short: in a narrow window or with large text the least needed ones are left out
// until names can be read, instead of all of them being cut. What is left out stands in tooltips, in the Inspector and
// in what Copy gives, and comes back with the room.
#pragma once

#include <span>

#include <imgui.h>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct ColumnSetup {
  const char* title = "";
  float width = 0;                  // px at 100 %; of names (those that stretch) the least that they need.
  int rank = 0;                     // 0: always there. Else the highest are left out first, of two alike the later.
  ImGuiTableColumnFlags flags = 0;  // WidthStretch: a name.
  float share = 1;                  // Of names: their part of what is left over.
};

// Right after BeginTable(). The column that the table is sorted by stays.
void set_up_table_columns(const Look& look, std::span<const ColumnSetup> columns);

// For the last table of a view: what is left of its height, but at least some rows; where that is too much, the view
// scrolls.
ImVec2 size_of_last_table(const Look& look);

// How many parts of this width (px at 100 %) have room beside one another, of `most`; at least one.
int count_beside(const Look& look, float width, int most);

}  // namespace hbmscope::gui
