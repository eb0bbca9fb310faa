// A table whose parts add up to a whole, as one bar with a legend: all memory of a device at a time.
#pragma once

#include "analysis/document/document.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// Its key "part" decides the colour of a row, the column with a share its width, and the last column is its name.
void draw_stacked_bar(const Look& look, const Table& table);

}  // namespace hbmscope::gui
