// Why a view that somebody asked for by name is not there, and what would bring it.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Empty where it is there. For a terminal: nothing of a file's name is sent to it raw.
std::string why_no_view(const AppState& state, ViewKind kind);

}  // namespace hbmscope::gui
