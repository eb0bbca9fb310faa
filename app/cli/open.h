// hbmscope open: what is asked of the window, and whoever else opens one.
#pragma once

#include <string>

#include "app/cli/cli.h"

namespace CLI {
class App;
}

namespace hbmscope::cli {

// `size`: of the window, "1600x1000"; empty: as the request has it.
void add_open_options(CLI::App& command, OpenRequest& request, std::string& size);
// Returns the exit code.
int run_open(OpenRequest& request, const std::string& size, const OpenWindow& open_window);

// Says so where there is no window to open.
int open_window_or_say(const OpenRequest& request, const OpenWindow& open_window);

}  // namespace hbmscope::cli
