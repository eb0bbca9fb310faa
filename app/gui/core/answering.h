// Turns questions into answers, from the cache or on a worker thread. In each frame App collects the questions of the
// visible views; the functions in questions.h say what each answer depends on and how to compute it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "app/gui/core/answer_cache.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

Error cancelled_error();  // The error of an answer that nobody waits for any more.

// A computed answer and an estimate of the memory that it holds.
template <class T>
struct Computed {
  std::shared_ptr<const T> value;
  std::size_t bytes = 0;
};
template <class T>
using Compute = std::function<Result<Computed<T>>(Work& work)>;

class Answering {
 public:
  Answering(AppState& state, const CommandQueue& commands, WorkerPool& pool);

  // The members below refer to the bound context.
  AppState& state() { return state_; }
  const ViewPosition& position() const { return state_.position(); }
  const Answers& answers() const { return state_.answers(); }
  ContextNotes& notes() { return state_.context().notes; }
  bool asks(Question question) const { return commands_.asks(question, state_.context_index()); }

  // Does nothing if `key` was also the last question.
  template <class T>
  void ask(Answer<T> Answers::*member, AnswerKey key, Compute<T> compute);
  template <class T>
  void forget(Answer<T> Answers::*member);
  void forget_all();

  // These apply to all contexts and to the whole cache.
  void forget_source(SourceId id) { cache_.forget(id); }
  void cancel_all();
  void ask_again_what_was_cancelled();

 private:
  AppState& state_;
  const CommandQueue& commands_;
  WorkerPool& pool_;
  AnswerCache cache_;
};

template <class T>
void Answering::forget(Answer<T> Answers::*member) {
  Answer<T>& answer = state_.context().answers.*member;
  if (answer.work) answer.work->cancelled = true;
  answer = {};
}

template <class T>
void Answering::ask(Answer<T> Answers::*member, AnswerKey key, Compute<T> compute) {
  Answer<T>& answer = state_.context().answers.*member;
  if (answer.key == key) return;
  if (answer.work) answer.work->cancelled = true;
  answer.work = nullptr;
  answer.key = key;
  if (auto known = cache_.find(key)) {
    answer = {AnswerState::ready, std::static_pointer_cast<const T>(known), {}, {}, nullptr, false, std::move(key)};
    return;
  }
  answer.state = AnswerState::pending;
  answer.is_stopped = false;
  // For a running job, every answer is renewed several times a second. The previous answer stays on the screen, without
  // a "computing" note that would flicker.
  const Source* source = state_.find_source(key.source);
  const bool is_renewal = source != nullptr && source->live && answer.value != nullptr;
  answer.pending_since = is_renewal ? std::chrono::steady_clock::time_point::max() : std::chrono::steady_clock::now();
  answer.work = std::make_shared<Work>();
  pool_.post([this, member, key, compute = std::move(compute), work = answer.work]() -> WorkerPool::Finish {
    // Cancelled before it started: it was replaced by another question, or the user cancelled it.
    const Result<Computed<T>> computed =
        work->cancelled ? Result<Computed<T>>(Failure(cancelled_error())) : compute(*work);
    return [this, member, key, computed, work] {
      // Cache the answer even if nobody waits for it any more, unless its file was closed.
      const bool is_open = state_.find_source(key.source) != nullptr &&
                           (key.baseline == SourceId::none || state_.find_source(key.baseline) != nullptr);
      if (computed && is_open) cache_.insert(key, computed->value, computed->bytes);
      // Meanwhile the same question may have started again, or the side may have been closed.
      const auto waits = std::find_if(state_.contexts.begin(), state_.contexts.end(),
                                      [&](const Context& context) { return (context.answers.*member).work == work; });
      if (waits == state_.contexts.end()) return;
      Answer<T>& waiting = waits->answers.*member;
      waiting.state = computed ? AnswerState::ready : AnswerState::failed;
      if (computed) {
        waiting.value = computed->value;
      } else {
        waiting.error = computed.error();
        waiting.is_stopped = work->cancelled;
      }
    };
  });
}

}  // namespace hbmscope::gui
