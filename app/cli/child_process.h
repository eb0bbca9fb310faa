// Short-lived programs whose output a command reads.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

struct ChildOutput {
  std::string text;   // Its standard output; at most 16 MiB.
  int exit_code = 0;  // Or 128 + the signal that ended it.
};
// Runs the program, found like in a shell, and waits for it. Its standard error is ours, or goes to `messages`, a file
// that is made. Errors: it can't be started.
Result<ChildOutput> run_and_read(std::vector<std::string> words, const std::string& messages = {});

}  // namespace hbmscope::cli
