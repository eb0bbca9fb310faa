// Exports that only traces have: events or blocks as CSV, counters for Perfetto. They are written while they are
// computed, with progress on a terminal.
#pragma once

#include "app/cli/options.h"

namespace hbmscope::cli {

bool is_trace_export(const ExportOptions& options);
int run_trace_export(const ExportOptions& options);  // The exit code.

}  // namespace hbmscope::cli
