// How a question becomes an answer: from the cache, or worked out by a worker; for the files that have questions.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "app/gui/core/app_impl.h"

namespace hbmscope::gui {

Error cancelled_error();  // Of an answer that nobody waits for any more.

template <class T>
void App::Impl::forget(int kind, Answer<T> Answers::*member) {
  state.context().answers.*member = {};
  Slot& slot = this->slot(kind);
  if (slot.work) slot.work->cancelled = true;
  slot = {};
}

template <class T>
void App::Impl::ask(int kind, Answer<T> Answers::*member, QueryKey key, Compute<T> compute) {
  key.kind = kind;
  Slot& slot = this->slot(kind);
  Answer<T>& answer = state.context().answers.*member;
  if (slot.asked && slot.key == key) return;
  if (slot.work) slot.work->cancelled = true;
  slot = {key, true, nullptr};
  if (auto known = cache_.find(key)) {
    answer = {AnswerState::ready, std::static_pointer_cast<const T>(known), {}, {}, nullptr, false};
    return;
  }
  answer.state = AnswerState::pending;
  answer.is_stopped = false;
  // Of a running job every answer is renewed some times a second: the one before stays on the screen, and no words come
  // and go beside it.
  const Source* source = find_source(key.source);
  const bool is_renewal = source != nullptr && source->live && answer.value != nullptr;
  answer.asked = is_renewal ? std::chrono::steady_clock::time_point::max() : std::chrono::steady_clock::now();
  slot.work = std::make_shared<Work>();
  answer.work = slot.work;
  pool_.post([this, kind, member, key, compute = std::move(compute), work = slot.work]() -> WorkerPool::Finish {
    // Cancelled while it waited: overtaken by another question, or stopped.
    const Result<Computed<T>> computed =
        work->cancelled ? Result<Computed<T>>(Failure(cancelled_error())) : compute(*work);
    return [this, kind, member, key, computed, work] {
      // The answer belongs in the cache even when nobody waits for it any more, unless its file was closed.
      const bool is_open = find_source(key.source) != nullptr &&
                           (key.baseline == SourceId::none || find_source(key.baseline) != nullptr);
      if (computed && is_open) cache_.insert(key, computed->value, computed->bytes);
      // The same question may have been asked again since this work was cancelled, or its side was closed.
      const auto waits = std::find_if(sides_.begin(), sides_.end(), [&](Side& side) {
        const Slot& current = side.slots[kind];
        return current.asked && current.work == work;
      });
      if (waits == sides_.end()) return;
      Answer<T>& waiting = state.contexts[static_cast<std::size_t>(waits - sides_.begin())].answers.*member;
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
