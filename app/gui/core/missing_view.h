// Explains why something requested on the command line is missing, and how to get it.
#pragma once

#include <string>
#include <string_view>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Empty if it exists. Safe for a terminal: control characters in file names are escaped.
std::string why_no_view(const AppState& state, ViewKind kind);

// Why a request is invalid for any file: an unknown view.
std::string why_no_request(std::string_view view);
// For the open file: an unknown heap, or a filter that does not parse.
std::string why_not_found(const AppState& state, const std::string& heap);
// If a file should be open but none is: the window's message about it.
std::string why_nothing_opened(const AppState& state);

}  // namespace hbmscope::gui
