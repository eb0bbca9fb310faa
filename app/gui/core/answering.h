// Turns questions into answers, from the cache or on a worker thread. In each frame App collects the questions of the
// visible views; the functions in questions.h say what each answer depends on and how to compute it.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "app/gui/core/answer_cache.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

Error cancelled_error();  // The error of an answer that nobody waits for any more.

// A computed answer of any type, and an estimate of the memory that it holds.
struct AnyComputed {
  std::shared_ptr<const void> value;
  std::size_t bytes = 0;
};
using Compute = std::function<Result<AnyComputed>(Work& work)>;

// What a computation returns: an answer of type T, or why there is none.
template <class T>
struct Computed {
  Computed(std::shared_ptr<const T> value, std::size_t bytes) : result(AnyComputed{std::move(value), bytes}) {}
  Computed(Failure failure) : result(std::move(failure)) {}
  Result<AnyComputed> result;
};

class Answering {
 public:
  Answering(AppState& state, const CommandQueue& commands, WorkerPool& pool);

  // The members below refer to the bound context.
  AppState& state() { return state_; }
  const ViewPosition& position() const { return state_.position(); }
  const Answers& answers() const { return state_.answers(); }
  ContextNotes& notes() { return state_.context().notes; }
  bool asks(Question question) const { return commands_.asks(question, state_.context_index()); }

  // Does nothing if `key` was also the last question. `compute` takes a Work& and returns a Computed<T>. `turn`: next,
  // if a long chain of answers waits for this one.
  template <class T>
  void ask(Answer<T> Answers::*member, AnswerKey key, auto compute, WorkerPool::Turn turn = WorkerPool::Turn::last) {
    static_assert(std::is_same_v<decltype(compute(std::declval<Work&>())), Computed<T>>);
    key.type = &typeid(T);
    ask(
        state_.context().answers.*member, std::move(key),
        [compute = std::move(compute)](Work& work) { return compute(work).result; }, turn);
  }
  template <class T>
  void forget(Answer<T> Answers::*member) {
    (state_.context().answers.*member).forget();
  }
  void forget_all();

  // These apply to all contexts and to the whole cache.
  void forget_source(SourceId id) { cache_.forget(id); }
  void cancel_all();
  void ask_again_what_was_cancelled();

 private:
  void ask(AnswerSlot& answer, AnswerKey key, Compute compute, WorkerPool::Turn turn);

  AppState& state_;
  const CommandQueue& commands_;
  WorkerPool& pool_;
  AnswerCache cache_;
};

}  // namespace hbmscope::gui
