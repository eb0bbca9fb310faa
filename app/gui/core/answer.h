// The answers to the questions of one side's views, each with its state: missing, pending, ready or failed. Nothing
// expensive runs in a frame: App computes answers on its own threads and stores them here between two frames.
//
// While a new question is pending (for example after the filter changed), `value` is still the previous answer, so that
// the picture does not blink. `state` says that it is outdated.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/trace/pass_control.h"
#include "app/gui/core/answer_key.h"
#include "app/gui/core/filter_values.h"
#include "app/gui/core/view_lists.h"
#include "app/gui/sources/answer_state.h"

namespace hbmscope {
struct FreeHistory;
struct ProfileDiff;
struct ProfileView;
struct SettingChange;
namespace log {
struct LogExcerpt;
}
}  // namespace hbmscope

namespace hbmscope::gui {

// Shared between a computation and whoever waits for its result.
struct Work : PassControl {
  operator const std::atomic<bool>&() const { return cancelled; }
};

// An answer without the type of its value.
struct AnswerSlot {
  AnswerState state = AnswerState::absent;
  Error error;
  std::chrono::steady_clock::time_point pending_since;  // Start of the pending question.
  std::shared_ptr<Work> work;                           // Progress of the last question, where known.
  // Cancelled by the user: `state` is failed and the value is the previous answer.
  bool is_stopped = false;
  AnswerKey key;  // The last question. Without a type it is computed again.

  AnswerSlot() = default;
  AnswerSlot(const AnswerSlot&) = default;
  AnswerSlot& operator=(const AnswerSlot&) = default;
  virtual ~AnswerSlot() = default;

  bool pending() const { return state == AnswerState::pending; }
  bool failed() const { return state == AnswerState::failed; }
  virtual bool has_value() const = 0;
  virtual void set_value(std::shared_ptr<const void> value) = 0;  // The value has this answer's type.
  void cancel() const {
    if (work) work->cancelled = true;
  }
  void forget();  // Cancels its question, too.
};

template <class T>
struct Answer : AnswerSlot {
  std::shared_ptr<const T> value;

  bool has_value() const override { return value != nullptr; }
  void set_value(std::shared_ptr<const void> given) override {
    value = std::static_pointer_cast<const T>(std::move(given));
  }
};

// Only declares most of their types; answers.h defines them.
struct Answers {
#define X(type, name, phrase) Answer<type> name;
  HBMSCOPE_ANSWERS(X)
#undef X
};

// Calls visit(answer, phrase) for each answer.
template <class Each, class Visit>
void for_each_answer(Each& answers, const Visit& visit) {
#define X(type, name, phrase) visit(answers.name, phrase);
  HBMSCOPE_ANSWERS(X)
#undef X
}

}  // namespace hbmscope::gui
