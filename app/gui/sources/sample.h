// The profile that comes with the program, for a person who has none at hand.
#pragma once

#include <string>

namespace hbmscope::gui {

// $HBMSCOPE_SAMPLE where that is set, else below the folders that the build and the installation put samples in; empty
// where there is none.
std::string find_sample();

}  // namespace hbmscope::gui
