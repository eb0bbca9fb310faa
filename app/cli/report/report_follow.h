// `report --follow`: prints each failure of a log as the log grows.
#pragma once

#include <string>

namespace hbmscope::cli {

struct ReportOptions;

// Ends with the input (standard input), or when it is interrupted (a file). With --json, one object per line.
int run_report_follow(const ReportOptions& options);

}  // namespace hbmscope::cli
