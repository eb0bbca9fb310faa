// hbmscope report --series: many files, a line or two each.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

// If all of them are traces and no filter or time is given: how full each heap got, and its curve; else totals. Prints,
// and returns the exit code.
int run_report_series(const ReportOptions& options, const ViewRequest& request);

}  // namespace hbmscope::cli
