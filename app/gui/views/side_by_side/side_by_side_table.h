// The figures of two heaps side by side, as the view shows and copies them.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/table_text.h"

namespace hbmscope::gui {

TextTable table_from_side_by_side(const SideBySideAnswer& answer);

}  // namespace hbmscope::gui
