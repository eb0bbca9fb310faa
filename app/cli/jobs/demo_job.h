// The job of a demo: a workload (allocator/emulated/workload) on an allocator, slow enough to watch. It knows nothing
// about its observer; it is a program like any other with an annotated allocator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

struct DemoOptions {
  std::string workload = "training";
  std::string allocator;              // By name. Empty means that it is chosen by the settings, as in JAX.
  std::string version;                // Version of the allocator. Empty means the newest one that is emulated exactly.
  std::vector<std::string> settings;  // NAME=VALUE, as JAX reads them.
  std::string device_bytes = "24GiB";
  double speed = 1;  // 1: some hundred events per second.
  std::uint64_t seed = 1;
};

// Runs until a signal ends it. Reads lines from standard input: pause, go, step, speed X.
int run_demo_job(const DemoOptions& options);

// Errors: an invalid setting, or one that the allocator refuses.
Result<void> check_demo_job(const DemoOptions& options);

// The arguments of the job's own command line, after the program's name.
std::vector<std::string> words_of_demo_job(const DemoOptions& options);

}  // namespace hbmscope::cli
