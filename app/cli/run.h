// hbmscope run: starts a job, watches its device memory, keeps a recording.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::cli {

struct RunOptions {
  std::string record;  // Empty: named after the command, in the current folder.
  std::vector<std::string> command;
  bool no_window = false;  // There is none yet, so it changes nothing: for scripts that must never get one.
  bool no_follow = false;  // Only the process that is started, none that it starts.
};

// The job's own exit code; 128 and the signal where one ended it, as a shell has it.
int run_job(const RunOptions& options);

}  // namespace hbmscope::cli
