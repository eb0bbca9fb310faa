// The columns of a table in little room: in a narrow window or with large text the least needed columns are hidden
// until names are readable, instead of cutting all of them. Hidden figures are in tooltips, in the Inspector and in
// copied tables, and come back with the room.
#pragma once

#include <span>

#include <imgui.h>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct ColumnSetup {
  const char* title = "";
  float width = 0;                  // px at 100 %; for names, which stretch, the minimum.
  int rank = 0;                     // 0: always shown. Else the highest is hidden first, of equal ones the last.
  ImGuiTableColumnFlags flags = 0;  // WidthStretch: a name.
  float share = 1;                  // For names: their share of the rest of the width.
};

// Right after BeginTable(). The column by which the table is sorted is never hidden.
void set_up_table_columns(const Look& look, std::span<const ColumnSetup> columns);

// For the last table of a view: the rest of its height, but at least some rows; where there is less room, the view
// scrolls.
ImVec2 size_of_last_table(const Look& look);

// How many parts of this width (px at 100 %) fit next to one another, of `most`; at least one.
int count_beside(const Look& look, float width, int most);

}  // namespace hbmscope::gui
