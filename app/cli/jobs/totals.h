// hbmscope watch --totals: the total memory of a process on each device, from the driver (NVML). It loads nothing into
// the process and needs no permissions for it.
#pragma once

#include "app/cli/jobs/watch.h"

namespace hbmscope::cli {

// Prints one line per device, or one object for all devices, per interval, until the process ends or the time is over.
int watch_totals(const WatchOptions& options);

// Prints an error if there is no such driver, and returns the exit code.
int refuse_without_totals();

}  // namespace hbmscope::cli
