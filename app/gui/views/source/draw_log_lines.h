// The log's text around the line of a failure.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/source/draw_source.h"

namespace hbmscope::gui {

void draw_log_lines(const AppState& state, SourceViewState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
