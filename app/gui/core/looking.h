// Changes of where a person looks: view, heap, filter, pin, and the steps that Back undoes. All are about the context
// that is bound.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

void show_view(AppState& state, ViewKind kind);
void show_view_of_source(AppState& state, SourceId id, ViewKind kind);  // In every side that shows the source.
void note_view(AppState& state, ViewKind kind);
void step_view(AppState& state);

void remember(AppState& state, const ViewPosition& before);
void go(AppState& state, std::vector<ViewPosition>& from, std::vector<ViewPosition>& to);

void toggle_term(AppState& state, const std::string& term);
void pin(AppState& state, const MomentName& moment);
void show_heap(AppState& state, HeapKey heap);
// False where there is none, with the reason in the status line, or where the file is not read yet: then it is shown
// once it is.
bool show_heap_named(AppState& state, const std::string& name);

void copy_text(AppState& state, std::string text, std::string notice);

}  // namespace hbmscope::gui
