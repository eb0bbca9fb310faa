// hbmscope watch: how a running job stands, one line a second, for those who have only a terminal.
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
  bool from_now = false;            // What happened before is not fetched.
  bool totals = false;              // Nothing but what the driver tells of the process, which nobody need observe.
  FarOptions far;
};

int run_watch(const WatchOptions& options);

}  // namespace hbmscope::cli
