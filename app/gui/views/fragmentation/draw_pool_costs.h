// Why the pool is larger than what was requested: over time, one band per cost, and as figures at the selected time.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/theme.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

// `now`: the selected time. A click on the picture selects another one.
void draw_pool_costs(const AppState& state, const Look& look, const TraceMoment& now, CommandQueue& commands);

}  // namespace hbmscope::gui
