// Where views are: sources on the left, inspector on the right, tabs at the bottom. Between them the summary and the
// flame graph of a profile (with large text they are tabs), or the heap map over the timeline of a trace. Made once
// for each kind of file and after Reset layout; what a person moves stays there until a file of the other kind comes to
// the front.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/shell/view_states.h"

namespace hbmscope::gui {

// Selects its tab without taking the focus. False where it has no tab yet.
bool bring_to_front(ViewKind kind);

// Views whose rows say so come to the front when they appear, or once for each file.
void bring_new_views_forward(const AppState& state, ViewStates& views);

// Tabs keep the order of the table when others appear next to them.
void put_tabs_in_order(const AppState& state, ViewStates& views);

void make_dock_space(const AppState& state, ViewStates& views);

}  // namespace hbmscope::gui
