// Table columns that adapt to little room. In a narrow window or with large text, the least important columns are
// hidden until names are readable, instead of cutting all columns. Hidden figures are still in tooltips, in the
// Inspector and in copied tables.
#pragma once

#include <span>

#include <imgui.h>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct ColumnSetup {
  const char* title = "";
  float width = 0;  // In px at 100 % text; for names, which stretch, the minimum.
  // 0: never hidden. Otherwise the highest rank is hidden first, and the last column of equal ranks.
  int rank = 0;
  ImGuiTableColumnFlags flags = 0;  // Names use WidthStretch.
  float share = 1;                  // For names: the share of the remaining width.
};

// Call it right after BeginTable(). The sort column is never hidden.
void set_up_table_columns(const Look& look, std::span<const ColumnSetup> columns);

// The size of a view's last table: the remaining height, but at least a few rows. If there is less room, the view
// scrolls.
ImVec2 size_of_last_table(const Look& look);

// How many parts of `width` (px at 100 % text) fit next to each other: 1 to `most`.
int columns_that_fit(const Look& look, float width, int most);

}  // namespace hbmscope::gui
