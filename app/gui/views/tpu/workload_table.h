// The TPU panel as a table of text.
#pragma once

#include "app/gui/core/table_text.h"
#include "app/gui/sources/workload_panel.h"

namespace hbmscope::gui {

// All figures, now and unmodified, also those that only one of both has.
TextTable table_from_workload(const WorkloadAnswer& answer);

}  // namespace hbmscope::gui
