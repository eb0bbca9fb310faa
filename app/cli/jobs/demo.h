// hbmscope demo: runs a workload in a separate process and watches it live, in the window or for a while without one.
#pragma once

#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/jobs/demo_job.h"
#include "app/cli/jobs/listen.h"

namespace hbmscope::cli {

struct DemoRequest {
  DemoOptions job;
  // The settings of a second program that is otherwise the same. Empty if there is none.
  std::vector<std::string> other_side;
  std::string record;  // Empty: no recording is kept.
  ListenOptions listen;
  double seconds = 10;  // Without a window. 0 means that it runs until a signal, and then without a summary.
  bool headless = false, json = false, list = false;
};

int run_demo(const DemoRequest& request, const OpenWindow& open_window);

}  // namespace hbmscope::cli
