// A histogram as a table: steps, counts, bytes with a bar.
#pragma once

#include "app/gui/core/trace_tables.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// Its height is that of its rows; `id` is the table's id. The title is above it.
void draw_step_table(const Look& look, const char* id, const char* title, const PowerHistogram& histogram,
                     StepUnit unit);

}  // namespace hbmscope::gui
