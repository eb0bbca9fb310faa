// hbmscope open, and how other commands open the window.
#pragma once

#include <string>

#include "app/cli/cli.h"

namespace hbmscope::cli {

// `size`: of the window, "1600x1000"; empty: as the request has it.
// Returns the exit code.
int run_open(OpenRequest& request, const std::string& size, const OpenWindow& open_window);

// Prints an error if this program has no window.
int open_window_or_say(const OpenRequest& request, const OpenWindow& open_window);

}  // namespace hbmscope::cli
