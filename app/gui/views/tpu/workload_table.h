// The TPU panel as a text table.
#pragma once

#include "app/gui/core/table_text.h"
#include "app/gui/sources/workload_panel.h"

namespace hbmscope::gui {

// All figures, current and unmodified, including those that only one of them has.
TextTable table_from_workload(const WorkloadAnswer& answer);

}  // namespace hbmscope::gui
