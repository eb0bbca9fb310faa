// report --from MOMENT --at MOMENT: what came and went in between, instead of what lives at a moment.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

// Returns the exit code.
int run_report_range(const ReportOptions& options);

}  // namespace hbmscope::cli
