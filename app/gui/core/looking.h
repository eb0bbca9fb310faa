// Changes what the user looks at: view, heap, filter, pinned time, and the history for Back. All functions act on the
// bound context.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

void show_view(AppState& state, ViewKind kind);
void show_view_of_source(AppState& state, SourceId id, ViewKind kind);  // In every side that shows the source.
void note_view(AppState& state, ViewKind kind);
void step_view(AppState& state);
bool shows_blocks(const AppState& state);  // The view in front is about blocks, not about frames.

void remember(AppState& state, const ViewPosition& before);
void go(AppState& state, std::vector<ViewPosition>& from, std::vector<ViewPosition>& to);

void toggle_term(AppState& state, const std::string& term);
void pin(AppState& state, const MomentName& moment);
void unpin(ViewPosition& position);
void show_heap(AppState& state, HeapKey heap);
// False if there is no such heap; the status line then says why. Also false while the file is not read yet; the heap is
// then shown once it is read.
bool show_heap_named(AppState& state, const std::string& name);

void copy_text(AppState& state, std::string text, std::string notice);

}  // namespace hbmscope::gui
