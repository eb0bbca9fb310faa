// hbmscope watch --totals: what a process holds of each device, as the driver tells (NVML). Nothing is loaded into it,
// nothing else is known of it, and no right over it is needed.
#pragma once

#include "app/cli/watch.h"

namespace hbmscope::cli {

// A line for each device, or an object for all, at each interval; until the process ends, or the time is over.
int watch_totals(const WatchOptions& options);

// Where no driver tells: that is said, and this is the exit code.
int refuse_without_totals();

}  // namespace hbmscope::cli
