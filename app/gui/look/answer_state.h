// What stands in a view while there is nothing to show yet, or where it failed: always with words and a way on.
#pragma once

#include <string_view>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// True when the source in front is there. The Summary says all of why it isn't: reading (how far, Cancel) or failed
// (why, Try again, Close); the other views say one line, so that the same words don't stand everywhere.
bool draw_source_state(const AppState& state);
bool draw_source_state_in_full(const AppState& state, CommandQueue& commands);

void draw_error(const AppState& state, const Error& error);
void draw_stopped(bool has_older);
// False: not yet, for it is quick mostly.
bool draw_pending(std::string_view what, std::chrono::steady_clock::time_point since, const Work* work = nullptr);

// How far reading is: "Reading a.prof: 1.10 of 2.00 GiB, about 9 s left."
void draw_reading(const Source& source, CommandQueue& commands);

// True when `answer` has something to show; words in its place otherwise. `what`: "the call tree".
template <class T>
bool draw_answer_state(const AppState& state, const Answer<T>& answer, std::string_view what) {
  if (!draw_source_state(state)) return false;
  if (answer.is_stopped)
    draw_stopped(answer.value != nullptr);
  else if (answer.failed())
    draw_error(state, answer.error);
  if (answer.pending()) draw_pending(what, answer.asked, answer.work.get());
  return answer.value != nullptr;
}

// Copy table and Copy as text are answered by the view in front. True once for each time that they were given.
bool take_copy(const AppState& state, ViewKind view, std::uint64_t& seen);

// The button at the right end of a view's head: copy as table, text, command.
void draw_copy_menu(ViewKind view, CommandQueue& commands);

}  // namespace hbmscope::gui
