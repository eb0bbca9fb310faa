// The head of the views of a trace: the heap and what to know about it.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// A list of the trace's heaps; nothing if there is only one. True if something was drawn.
bool draw_heap_chooser(const AppState& state, const Trace& trace, HeapKey shown, CommandQueue& commands);

// Shown instead of a picture: why the time can't be shown, with buttons that help.
void draw_moment_error(const AppState& state, CommandQueue& commands);

// For an attached job: when we attached, how much it held then, how much of that is identified, and what reports its
// driver calls.
void draw_attached_line(const AppState& state);

// Draws a message if `answer` is absent because the trace has no heap.
void draw_no_heap(const AppState& state, AnswerState answer);

}  // namespace hbmscope::gui
