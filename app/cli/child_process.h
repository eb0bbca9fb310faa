// Short-lived programs whose output a command reads.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

int exit_code_from(int status);  // Of waitpid(): as in a shell, 128 + the signal that ended it.

struct ChildOutput {
  std::string text;   // Its standard output; at most 16 MiB.
  int exit_code = 0;  // See exit_code_from().
};
// Runs the program, found like in a shell, and waits for it. Its standard error is ours, or goes to `messages`, a file
// that is made. Errors: it can't be started.
Result<ChildOutput> run_and_read(std::vector<std::string> words, const std::string& messages = {});

}  // namespace hbmscope::cli
