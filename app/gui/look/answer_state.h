// What a view shows while its answer is computed or after it failed: a sentence, and a button that helps.
#pragma once

#include <string_view>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// True if the active source is ready. Otherwise Summary explains in full that it is being read (progress, Cancel) or
// failed (reason, Try again, Close), and other views say it in one line.
bool draw_source_state(const AppState& state);
bool draw_source_state_in_full(const AppState& state, CommandQueue& commands);

void draw_error(const AppState& state, const Error& error);
void draw_stopped(bool has_older);
// Draws nothing and returns false for the first 300 ms, since most answers take less.
bool draw_pending(std::string_view what, std::chrono::steady_clock::time_point since, const Work* work = nullptr);

// Where nothing matches the filter: whether something did at another time, with links, and a button that clears it.
void draw_no_match(const AppState& state, CommandQueue& commands);

// Reading progress: "Reading a.prof: 1.10 of 2.00 GiB, about 9 s left."
void draw_reading(const Source& source, CommandQueue& commands);

// True if `answer` has something to show; otherwise draws a sentence. `what`: "the call tree".
template <class T>
bool draw_answer_state(const AppState& state, const Answer<T>& answer, std::string_view what) {
  if (!draw_source_state(state)) return false;
  if (answer.is_stopped)
    draw_stopped(answer.value != nullptr);
  else if (answer.failed())
    draw_error(state, answer.error);
  if (answer.pending()) draw_pending(what, answer.pending_since, answer.work.get());
  return answer.value != nullptr;
}

// Copy table and Copy as text go to the view in front. True once per command.
bool take_copy(const AppState& state, ViewKind view, std::uint64_t& seen);

// The button at the right end of a view's head: copies the table, text or command.
void draw_copy_menu(ViewKind view, CommandQueue& commands);

}  // namespace hbmscope::gui
