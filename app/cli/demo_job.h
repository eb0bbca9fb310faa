// The job of a demo: a workload (allocator/workload) on an allocator, at a pace at which one can watch it. It knows
// nothing about who watches; it is a program like any other with an annotated allocator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

struct DemoOptions {
  std::string workload = "training";
  std::string allocator;              // By name; empty: as the settings choose it, as JAX does.
  std::string version;                // Of the allocator; empty: the newest that is exact.
  std::vector<std::string> settings;  // NAME=VALUE, as JAX reads them.
  std::string device_bytes = "24GiB";
  double speed = 1;  // 1: some hundred events a second.
  std::uint64_t seed = 1;
};

// Until a signal ends it. On standard input it takes, a line each: pause, go, step, speed X.
int run_demo_job(const DemoOptions& options);

// Errors: settings that are none, or that the allocator refuses.
Result<void> check_demo_job(const DemoOptions& options);

// The words for the job's own command line, behind the program's name.
std::vector<std::string> words_of_demo_job(const DemoOptions& options);

}  // namespace hbmscope::cli
