// What a view gets when it asks: an answer that is not there yet, is being computed, is there, or could not be had.
// Nothing costly happens in a frame; App computes answers on its own threads and puts them here between two frames.
//
// While a new question is pending (a filter was changed), `value` is still the answer to the old one, so that a picture
// stays where it is instead of blinking; a view says so with `state`.
#pragma once

#include <chrono>
#include <memory>

#include "analysis/model/result.h"
#include "analysis/trace/pass_control.h"
#include "app/gui/core/answer_key.h"
#include "app/gui/sources/answer_state.h"

namespace hbmscope::gui {

// What a computation shares with whoever waits for it.
struct Work : PassControl {
  operator const std::atomic<bool>&() const { return cancelled; }
};

template <class T>
struct Answer {
  AnswerState state = AnswerState::absent;
  std::shared_ptr<const T> value;
  Error error;
  std::chrono::steady_clock::time_point asked;  // When the pending question was asked.
  std::shared_ptr<Work> work = nullptr;         // How far the last question is, where that is known.
  bool is_stopped = false;                      // By the person; failed then, and `value` is what was there before.
  AnswerKey key = {};                           // What was asked last. No options: it is asked again.

  bool pending() const { return state == AnswerState::pending; }
  bool failed() const { return state == AnswerState::failed; }
};

}  // namespace hbmscope::gui
