// The answer above all views: one sentence on what happened, the figures behind it, and what to do next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct AnswerChip {
  std::string words;                    // "largest free block 16.5 MiB"
  std::string tooltip;                  // A sentence.
  std::optional<Command> command = {};  // What a click does. Nothing if it is not clickable.
  std::vector<Command> then = {};       // What it does after that.
};

struct AnswerBar {
  std::string title;                   // "Out of memory on GPU 1 at 2.734 s". Empty if there is no bar.
  std::string sentence;                // "Not enough memory: requested 4.94 GiB, ..."; may be empty.
  std::vector<AnswerChip> links = {};  // Continue the sentence, each with what a click shows or copies.
  bool is_failure = false;
  std::optional<Command> shows = {};  // What a click on the title does: its time is shown.
  std::vector<AnswerChip> chips;      // Most important first: the last ones are left out where there is no room.
  std::vector<AnswerChip> buttons;    // At most three.
};

// For the active side's source. Until the answer is computed, what is known of the file without it.
AnswerBar find_answer_bar(const AppState& state);
// The questions that it is made from.
void ask_for_answer_bar(const AppState& state, CommandQueue& commands);
void push(const AnswerChip& chip, CommandQueue& commands);  // What a click on it does.

}  // namespace hbmscope::gui
