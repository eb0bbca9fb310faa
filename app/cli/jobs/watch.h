// hbmscope watch: prints the memory of a running job, one line per second.
#pragma once

#include <string>

#include "app/cli/remote/far_bundle.h"

namespace hbmscope::cli {

struct WatchOptions {
  std::string job;                  // "4711": an observer or the job that it runs; "live:/path/to/socket"; "gpu7:4711".
  double seconds = 0;               // 0: until the job ends.
  double interval = 1;              // Seconds between lines.
  bool json = false;                // One object per line.
  std::string max_memory = "1GiB";  // Limit for the job's events.
  bool from_now = false;            // Skip earlier events.
  std::string metrics;              // "9400", "10.0.0.7:9400": for Prometheus, instead of lines. Empty means lines.
  std::string otlp;                 // "http://127.0.0.1:4318": sent there, instead of lines. Empty means lines.
  bool totals = false;              // Only the process's total, from the driver.
  FarOptions far;
};

int run_watch(const WatchOptions& options);

}  // namespace hbmscope::cli
