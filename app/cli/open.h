// hbmscope open, and opening the window from other commands.
#pragma once

#include <string>

#include "app/cli/cli.h"

namespace hbmscope::cli {

// `size`: of the window, "1600x1000". Empty means the request's size. Returns the exit code.
int run_open(OpenRequest& request, const std::string& size, const OpenWindow& open_window);

// Prints an error if this program has no window.
int open_window_or_say(const OpenRequest& request, const OpenWindow& open_window);

}  // namespace hbmscope::cli
