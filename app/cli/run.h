// hbmscope run: starts a job, watches its device memory, keeps a recording.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::cli {

struct RunOptions {
  std::string record;  // Empty: named after the command, in the current folder.
  std::vector<std::string> command;
};

// The job's own exit code; 128 and the signal where one ended it, as a shell has it.
int run_job(const RunOptions& options);

}  // namespace hbmscope::cli
