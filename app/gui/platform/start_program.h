// Starts another program that outlives the window.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::gui {

// Does not wait for it. The first argument is its name or path. Returns why it did not start, as a sentence; empty: it
// started.
std::string start_program(const std::vector<std::string>& arguments);

}  // namespace hbmscope::gui
