// Programs that a command starts, and whose output it reads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

int exit_code_from(int status);  // From waitpid(): as in a shell, 128 + the signal that ended it.

inline constexpr std::size_t child_output_bytes_max = std::size_t{16} << 20;
struct ChildOutput {
  std::string text;   // Its standard output; what is beyond child_output_bytes_max is cut off.
  int exit_code = 0;  // See exit_code_from().
};
struct ChildSettings {
  std::string messages = {};                    // A file to make for its standard error. Empty means ours.
  std::function<void(pid_t)> has_started = {};  // May send it signals until run_and_read returns.
};
// Runs the program, found as in a shell, and waits for it. Errors: it can't be started.
Result<ChildOutput> run_and_read(std::vector<std::string> words, const ChildSettings& settings = {});

}  // namespace hbmscope::cli
