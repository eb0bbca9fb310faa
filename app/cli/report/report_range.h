// report --from TIME --at TIME: what was allocated and freed in between, instead of what is live at one time.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

// Returns the exit code.
int run_report_range(const ReportOptions& options);

}  // namespace hbmscope::cli
