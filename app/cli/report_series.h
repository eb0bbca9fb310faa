// hbmscope report --series: many files, a line or two each.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

// Where all of them are traces and nothing of what they hold is asked for, how full each heap got and how that went;
// else totals. Prints, and returns the exit code.
int run_report_series(const ReportOptions& options, const ViewRequest& request);

}  // namespace hbmscope::cli
