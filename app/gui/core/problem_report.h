// What whoever looks into a problem asks for first. It names no file, no function and no host.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

std::string problem_report(const AppState& state);

}  // namespace hbmscope::gui
