// The state of an answer that a view needs: missing, pending, ready or failed. Nothing expensive runs in a frame: App
// computes answers on its own threads and stores them here between two frames.
//
// While a new question is pending (for example after the filter changed), `value` is still the previous answer, so that
// the picture does not blink. `state` says that it is outdated.
#pragma once

#include <chrono>
#include <memory>

#include "analysis/model/result.h"
#include "analysis/trace/pass_control.h"
#include "app/gui/core/answer_key.h"
#include "app/gui/sources/answer_state.h"

namespace hbmscope::gui {

// Shared between a computation and whoever waits for its result.
struct Work : PassControl {
  operator const std::atomic<bool>&() const { return cancelled; }
};

template <class T>
struct Answer {
  AnswerState state = AnswerState::absent;
  std::shared_ptr<const T> value;
  Error error;
  std::chrono::steady_clock::time_point pending_since;  // Start of the pending question.
  std::shared_ptr<Work> work = nullptr;                 // Progress of the last question, where known.
  // Cancelled by the user: `state` is failed and `value` is the previous answer.
  bool is_stopped = false;
  AnswerKey key = {};  // The last question. Without options it is computed again.

  bool pending() const { return state == AnswerState::pending; }
  bool failed() const { return state == AnswerState::failed; }
};

}  // namespace hbmscope::gui
