// The head of the pictures of a trace: which heap, and what to know about it.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// A list of the heaps of the trace; nothing where there is only one. True where something was drawn.
bool draw_heap_chooser(const AppState& state, const Trace& trace, HeapKey shown, CommandQueue& commands);

// Why the time can't be shown, with buttons that help, in place of a picture.
void draw_moment_error(const AppState& state, CommandQueue& commands);

// For a job that was attached to: since when, what it held then, how much of that is identified, and what reports its
// driver calls.
void draw_attached_line(const AppState& state);

// Says so where `answer` is absent because the trace has no heap.
void draw_no_heap(const AppState& state, AnswerState answer);

}  // namespace hbmscope::gui
