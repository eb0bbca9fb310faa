// Where views are: sources left, inspector right, tabs below; between them the summary beside the flame graph (with
// large text they are tabs), and of a trace the heap map over the timeline. Made once for each kind of file and after
// Reset layout; whatever a person moves stays there until a file of the other kind comes to the front.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/shell/view_states.h"

namespace hbmscope::gui {

// Where it is, without taking the focus; its strip of tabs scrolls to it. False where it has no tab by now.
bool bring_to_front(ViewKind kind);

// The range's tab comes to the front when a range is selected.
void follow_range(const AppState& state, ViewStates& views);

// What differs comes to the front when two traces are put side by side.
void follow_beside(const AppState& state, ViewStates& views);

// Why it failed comes to the front once for each file that has it, however late it is known, unless somebody asked for
// another tab. Not of a running job: nothing moves under the hand then.
void follow_failure(const AppState& state, ViewStates& views);

// Import stays the last tab when others appear beside it.
void put_tabs_in_order(const AppState& state, ViewStates& views);

void make_dock_space(const AppState& state, ViewStates& views);

}  // namespace hbmscope::gui
