// What stands above both pictures of a trace: which heap, at which moment.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// A combo with the heaps of the trace; nothing where there is one. True where something was drawn.
bool draw_heap_chooser(const AppState& state, const Trace& trace, HeapKey shown, CommandQueue& commands);

// The reason in place of a picture, with a way on, where the moment can't be had.
void draw_moment_error(const AppState& state, CommandQueue& commands);

// Of a job that was attached to: since when, what it held then, how much of that is known, and who tells of its calls.
void draw_attached_line(const AppState& state);

// Where `answer` is absent because the trace has no heap to ask about: says so.
void draw_no_heap(const AppState& state, AnswerState answer);

}  // namespace hbmscope::gui
