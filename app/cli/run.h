// hbmscope run: starts a job, watches its device memory, keeps a recording, and shows it in the window meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/far_bundle.h"
#include "app/cli/flight.h"
#include "app/cli/listen.h"

namespace hbmscope::cli {

struct RunOptions {
  std::string record;  // Empty: named after the command, in the current folder.
  bool no_window = false;
  bool no_follow = false;              // Only the process that is started is watched, none that it starts.
  std::string back_end = "interpose";  // Or cupti: how calls of the CUDA driver are seen.
  std::string stacks = "python";       // Or native, or none: the stacks of those calls.
  std::uint32_t stack_depth = 64;      // Frames at most.
  FlightOptions flight;
  ListenOptions listen;
  std::vector<std::string> command;
  FarOptions far;
  std::vector<std::string> words;  // For another machine: its options, as they were given.
};

// The job's own exit code; 128 and the signal where one ended it, as a shell has it. The window is another process,
// where this program has one (`has_window`) and there is a display.
int run_job(const RunOptions& options, bool has_window);

}  // namespace hbmscope::cli
