// What this program is: its version, the commit that it was built from, and what it can do here.
#pragma once

#include <string>

namespace hbmscope::cli {

// "0.1.0 (commit 034ad858)". Without the commit if the sources were no git checkout.
std::string version_text();
// The text of --version: the version, then a line with what this installation has and what it lacks.
std::string about_text(bool has_window);

}  // namespace hbmscope::cli
