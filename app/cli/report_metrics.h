// The part of a report that --metrics adds: of each heap its sizes, gaps, ages, lifetimes, churn and high-water
// moments.
#pragma once

#include <string>
#include <vector>

#include "analysis/query/heap_metrics.h"
#include "analysis/read/source/read_source.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

// One a heap of the trace, with progress on a terminal. Error: a source that has no trace.
Result<std::vector<HeapMetrics>> load_metrics(const Source& source);

std::string text_from_metrics(const Source& source, const std::vector<HeapMetrics>& metrics, const Terminal& terminal);

}  // namespace hbmscope::cli
