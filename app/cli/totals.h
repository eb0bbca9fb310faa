// hbmscope watch --totals: the total memory of a process on each device, from the driver (NVML). Nothing is loaded into
// the process, and no rights over it are needed.
#pragma once

#include "app/cli/watch.h"

namespace hbmscope::cli {

// A line for each device, or an object for all, at each interval; until the process ends, or the time is over.
int watch_totals(const WatchOptions& options);

// Without such a driver: prints an error and returns the exit code.
int refuse_without_totals();

}  // namespace hbmscope::cli
