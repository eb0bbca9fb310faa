// The positions of the views: sources on the left, inspector on the right, tabs at the bottom. Between them are the
// summary and the flame graph of a profile (tabs if the text is large), or the heap map over the timeline of a trace.
// The layout is made once for each kind of file and after Reset layout, which is about the kind in front. The user's
// changes are kept for each kind (layout_memory.h).
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/shell/view_states.h"

namespace hbmscope::gui {

// ImGui::Begin. A window in the docks has no background of its own, since the frame begins with that colour: without a
// graphics card, filling the screen again is most of what such a frame costs.
bool begin_docked(const char* title, ImGuiWindowFlags flags = 0);

// Selects the view's tab without taking the focus. False if it has no tab yet.
bool bring_to_front(ViewKind kind);

// Brings views to the front when they appear, or once per file, as their rows say.
void bring_new_views_forward(const AppState& state, ViewStates& views);

// Keeps tabs in the order of the table when new ones appear.
void put_tabs_in_order(const AppState& state, ViewStates& views);

void make_dock_space(const AppState& state, ViewStates& views);

}  // namespace hbmscope::gui
