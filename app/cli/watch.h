// hbmscope watch: the memory of a running job, one line per second, for a terminal.
#pragma once

#include <string>

#include "app/cli/far_bundle.h"

namespace hbmscope::cli {

struct WatchOptions {
  std::string job;      // "4711": an observer, or the job that it runs; "live:/path/to/socket"; "gpu7:4711".
  double seconds = 0;   // 0: until the job ends.
  double interval = 1;  // Of the lines, in seconds.
  bool json = false;    // An object a line.
  std::string max_memory = "1GiB";  // Of the job's events.
  bool from_now = false;            // What happened before is skipped.
  bool totals = false;              // Only the total of the process, from the driver.
  FarOptions far;
};

int run_watch(const WatchOptions& options);

}  // namespace hbmscope::cli
