// The profile that comes with the program, for users who have none at hand.
#pragma once

#include <string>

namespace hbmscope::gui {

// $HBMSCOPE_SAMPLE if set, otherwise the sample in the folders used by the build and the installation; empty if there
// is none.
std::string find_sample();
// A recording next to it, in which a request for 3 GiB fails although 12 GiB is free; empty if there is none.
std::string find_failing_sample();

}  // namespace hbmscope::gui
