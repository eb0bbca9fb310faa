// How a question becomes an answer: from the cache, or worked out by a worker; for the files that have questions.
#pragma once

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
  Slot& slot = slots_[kind];
  if (slot.work) slot.work->cancelled = true;
  slot = {};
}

template <class T>
void App::Impl::ask(int kind, Answer<T> Answers::*member, QueryKey key, Compute<T> compute) {
  key.kind = kind;
  Slot& slot = slots_[kind];
  Answer<T>& answer = state.context().answers.*member;
  if (slot.asked && slot.key == key) return;
  if (slot.work) slot.work->cancelled = true;
  slot = {key, true, nullptr};
  if (auto known = cache_.find(key)) {
    answer = {AnswerState::ready, std::static_pointer_cast<const T>(known), {}, {}, nullptr};
    return;
  }
  answer.state = AnswerState::pending;
  answer.asked = std::chrono::steady_clock::now();
  slot.work = std::make_shared<Work>();
  answer.work = slot.work;
  pool_.post([this, kind, member, key, compute = std::move(compute), work = slot.work]() -> WorkerPool::Finish {
    if (work->cancelled) return nullptr;  // Overtaken by another question while it waited.
    const Result<Computed<T>> computed = compute(*work);
    return [this, kind, member, key, computed] {
      // The answer belongs in the cache even when nobody waits for it any more, unless its file was closed.
      if (computed && find_source(key.source) != nullptr) cache_.insert(key, computed->value, computed->bytes);
      const Slot& current = slots_[kind];
      if (!current.asked || !(current.key == key)) return;
      Answer<T>& waiting = state.context().answers.*member;
      waiting.state = computed ? AnswerState::ready : AnswerState::failed;
      if (computed) {
        waiting.value = computed->value;
      } else {
        waiting.error = computed.error();
      }
    };
  });
}

}  // namespace hbmscope::gui
