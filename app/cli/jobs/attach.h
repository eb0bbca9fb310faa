// hbmscope attach: watches a job that was started without hbmscope, and leaves it running.
#pragma once

#include <string>
#include <vector>

#include "app/cli/jobs/flight.h"
#include "app/cli/jobs/listen.h"
#include "app/cli/remote/far_bundle.h"

namespace hbmscope::cli {

struct AttachOptions {
  std::string job;      // A process id, "4711", or a part of its command as shown by ps.
  bool is_all = false;  // All jobs whose command has that part; with a process id, all jobs with its command.
  std::string record;   // Empty: COMMAND.PID.hbm in the current folder.
  double seconds = 0;   // 0: until the job ends, the window is closed, or Ctrl+C.
  bool no_window = false;
  bool totals = false;    // Loads nothing into the job; only records its total from the driver.
  bool no_cupti = false;  // Leaves CUPTI to the job's own profilers.
  FlightOptions flight;
  ListenOptions listen;
  FarOptions far;
  std::vector<std::string> words;  // For another machine: the options as given.
};

// If this program has a window (`has_window`) and there is a display, the window opens in a separate process; closing
// it detaches.
int run_attach(const AttachOptions& options, bool has_window);

// hbmscope detach: makes the hbmscope that is attached to the process detach, and waits for it.
int run_detach(const std::string& process, const FarOptions& far);

}  // namespace hbmscope::cli
