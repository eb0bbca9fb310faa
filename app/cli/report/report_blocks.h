// hbmscope report --blocks and --address: the live blocks at a time, and what an address holds and held.
#pragma once

namespace hbmscope::cli {

struct ReportOptions;

// Replaces the rest of the report. Returns the exit code.
int run_report_blocks(const ReportOptions& options);

}  // namespace hbmscope::cli
