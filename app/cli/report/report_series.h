// hbmscope report --series: many files, one or two lines each.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

// If all files are traces and there is no filter or time: how full each heap became, with its curve; otherwise totals.
// Prints them and returns the exit code.
int run_report_series(const ReportOptions& options, const ViewRequest& request);

}  // namespace hbmscope::cli
