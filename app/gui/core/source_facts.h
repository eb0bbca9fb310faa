// What the active source has, as far as views depend on it. A view that would be empty does not exist.
#pragma once

#include <string_view>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Why no heap of the trace ever holds a block, as a sentence; empty if one does, or if the job still runs.
std::string_view why_no_blocks(const AppState& state);
// Why nothing changes over time, as a sentence; empty if something does, or if the job still runs.
std::string_view why_no_history(const AppState& state);

}  // namespace hbmscope::gui
