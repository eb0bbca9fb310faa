// The command line: finds the command, fills its options and runs it.
#pragma once

#include "app/cli/cli.h"

namespace hbmscope::cli {

// Returns the exit code. A first argument that is not a command is a file to open.
int run(int argc, char** argv, const OpenWindow& open_window);

}  // namespace hbmscope::cli
