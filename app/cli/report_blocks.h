// hbmscope report --blocks and --address: the live blocks at a time one by one, and what an address holds and held.
#pragma once

namespace hbmscope::cli {

struct ReportOptions;

// The exit code. Instead of the rest of the report.
int run_report_blocks(const ReportOptions& options);

}  // namespace hbmscope::cli
