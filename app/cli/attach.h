// hbmscope attach: watches a job that was started without hbmscope, and leaves it running.
#pragma once

#include <string>
#include <vector>

#include "app/cli/far_bundle.h"
#include "app/cli/flight.h"
#include "app/cli/listen.h"

namespace hbmscope::cli {

struct AttachOptions {
  std::string job;      // "4711", or part of its command as ps shows it.
  bool is_all = false;  // All jobs whose command has that part; with a number, all with the command of that one.
  std::string record;   // Empty: COMMAND.PID.hbm in the current folder.
  double seconds = 0;   // 0: until it ends, the window is closed, or Ctrl+C.
  bool no_window = false;
  bool totals = false;    // Nothing is loaded into it; only its total from the driver is recorded.
  bool no_cupti = false;  // CUPTI is left to the job's own profilers.
  FlightOptions flight;
  ListenOptions listen;
  FarOptions far;
  std::vector<std::string> words;  // For another machine: its options, as they were given.
};

// The window is another process, where this program has one (`has_window`) and there is a display; closing it
// detaches.
int run_attach(const AttachOptions& options, bool has_window);

// hbmscope detach: has the hbmscope that is attached to the process detach, and waits until it has.
int run_detach(const std::string& process, const FarOptions& far);

}  // namespace hbmscope::cli
