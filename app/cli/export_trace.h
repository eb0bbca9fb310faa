// The exports that only a trace has: its events or blocks as CSV, its counters for Perfetto. Written as they are worked
// out, with progress on a terminal.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

bool is_trace_export(const ExportOptions& options);
int run_trace_export(const ExportOptions& options);  // The exit code.

}  // namespace hbmscope::cli
