#include "app/gui/core/answering.h"

#include <chrono>

namespace hbmscope::gui {
namespace {

// Trees of large profiles take tens of megabytes each; this is enough to go back and forth between several of them.
constexpr std::size_t cache_bytes = std::size_t{512} << 20;

std::vector<AnswerSlot*> slots_of(Answers& answers) {
  std::vector<AnswerSlot*> slots;
  for_each_answer(answers, [&](AnswerSlot& answer, std::string_view) { slots.push_back(&answer); });
  return slots;
}

}  // namespace

Error cancelled_error() {
  return {"cancelled", "", "", std::nullopt, false};
}

void AnswerSlot::forget() {
  cancel();
  state = AnswerState::absent;
  error = {};
  pending_since = {};
  work = nullptr;
  is_stopped = false;
  key = {};
  set_value(nullptr);
}

Answering::Answering(AppState& state, const CommandQueue& commands, WorkerPool& pool)
    : state_(state), commands_(commands), pool_(pool), cache_(cache_bytes) {}

void Answering::ask(AnswerSlot& answer, AnswerKey key, Compute compute, WorkerPool::Turn turn) {
  if (answer.key == key) return;
  answer.cancel();
  answer.work = nullptr;
  answer.key = key;
  answer.is_stopped = false;
  if (auto known = cache_.find(key)) {
    answer.state = AnswerState::ready;
    answer.error = {};
    return answer.set_value(std::move(known));
  }
  answer.state = AnswerState::pending;
  // For a running job, every answer is renewed several times a second. The previous answer stays on the screen, without
  // a "computing" note that would flicker.
  const Source* source = state_.find_source(key.source);
  const bool is_renewal = source != nullptr && source->live && answer.has_value();
  answer.pending_since = is_renewal ? std::chrono::steady_clock::time_point::max() : std::chrono::steady_clock::now();
  answer.work = std::make_shared<Work>();
  auto task = [this, key = std::move(key), compute = std::move(compute), work = answer.work]() -> WorkerPool::Finish {
    // Cancelled before it started: it was replaced by another question, or the user cancelled it.
    const Result<AnyComputed> computed =
        work->cancelled ? Result<AnyComputed>(Failure(cancelled_error())) : compute(*work);
    return [this, key, computed, work] {
      // Cache the answer even if nobody waits for it any more, unless its file was closed.
      const bool is_open = state_.find_source(key.source) != nullptr &&
                           (key.baseline == SourceId::none || state_.find_source(key.baseline) != nullptr);
      if (computed && is_open) cache_.insert(key, computed->value, computed->bytes);
      // Meanwhile the same question may have started again, or the side may have been closed.
      for (Context& context : state_.contexts)
        for (AnswerSlot* waiting : slots_of(context.answers)) {
          if (waiting->work != work) continue;
          waiting->state = computed ? AnswerState::ready : AnswerState::failed;
          if (computed) {
            waiting->set_value(computed->value);
          } else {
            waiting->error = computed.error();
            waiting->is_stopped = work->cancelled;
          }
        }
    };
  };
  pool_.post(std::move(task), turn);
}

void Answering::forget_all() {
  state_.context().colors = nullptr;
  for (AnswerSlot* answer : slots_of(state_.context().answers)) answer->forget();
}

void Answering::cancel_all() {
  for (Context& context : state_.contexts)
    for (const AnswerSlot* answer : slots_of(context.answers)) answer->cancel();
}

void Answering::ask_again_what_was_cancelled() {
  for (Context& context : state_.contexts)
    for (AnswerSlot* answer : slots_of(context.answers)) {
      if (!answer->work || !answer->work->cancelled) continue;
      answer->work = nullptr;
      answer->key = {};
    }
}

}  // namespace hbmscope::gui
