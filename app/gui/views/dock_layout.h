// Where views are: the layout for profiles (sources left, summary beside the flame graph, tabs below, inspector right),
// made once and after Reset layout; whatever a person moves stays there.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/views/view_states.h"

namespace hbmscope::gui {

// A view that can't exist is not there: Diff and Totals need two files.
bool view_exists(const AppState& state, ViewKind kind);

// Import stays the last tab when Diff appears beside it.
void put_import_last(const AppState& state, ViewStates& views);

void make_dock_space(const AppState& state, ViewStates& views);

}  // namespace hbmscope::gui
