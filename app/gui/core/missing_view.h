// Why what somebody asked for on the command line is not there, and what would bring it.
#pragma once

#include <string>
#include <string_view>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Empty where it is there. For a terminal: nothing of a file's name is sent to it raw.
std::string why_no_view(const AppState& state, ViewKind kind);

// Why a command line asks for something that means nothing, whatever the file is: a view of that name, a filter.
std::string why_no_request(std::string_view view, std::string_view where);
// Of the file that is open: a heap of that name, a way to find blocks.
std::string why_not_found(const AppState& state, const std::string& heap, std::string_view find);
// Where nothing is open, though something was to be: what the window says of it.
std::string why_nothing_opened(const AppState& state);

}  // namespace hbmscope::gui
