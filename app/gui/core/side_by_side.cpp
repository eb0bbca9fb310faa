// Two contexts side by side: made, closed, swapped, and held at the same moment.
#include <algorithm>
#include <utility>

#include "app/gui/core/app_impl.h"
#include "app/gui/core/ask.h"

namespace hbmscope::gui {
namespace {

// The file beside the one in front that a person most likely means: the one opened last.
SourceId other_ready_source(const AppState& state, SourceId front) {
  for (auto source = state.sources.rbegin(); source != state.sources.rend(); ++source)
    if (source->id != front && source->state == AnswerState::ready) return source->id;
  return front;
}

}  // namespace

// Beside what is in front; where there are two sides, in the place of the one that is not active.
void App::Impl::split(SourceId beside) {
  forget_followed();
  const std::size_t front = state.active_context;
  if (!state.is_split()) {
    Context other;
    other.position = state.contexts.front().position;
    state.contexts.push_back(std::move(other));
    sides_.emplace_back();
  }
  const std::size_t other = 1 - front;
  ViewPosition& position = state.contexts[other].position;
  if (position.source != beside) enter_source(other, beside);
  position.baseline = SourceId::none;
}

void App::Impl::close_side(std::size_t context) {
  if (!state.is_split()) return;
  for (auto& [kind, slot] : sides_[context].slots)
    if (slot.work) slot.work->cancelled = true;
  forget_followed();
  state.contexts.erase(state.contexts.begin() + static_cast<std::ptrdiff_t>(context));
  sides_.erase(sides_.begin() + static_cast<std::ptrdiff_t>(context));
  state.active_context = 0;
  set_lock({});
  if (state.position().view == ViewKind::beside) show_view(ViewKind::heap_map);
  ++state.window.view_serial;
}

void App::Impl::swap_sides() {
  std::swap(state.contexts[0], state.contexts[1]);
  std::swap(sides_[0], sides_[1]);
  forget_followed();
  state.active_context = 1 - state.active_context;
}

void App::Impl::set_lock(std::optional<SameMoment> lock) {
  state.lock = lock;
  forget_followed();
}

// The sides are others now: what differs is worked out anew, and the active one leads.
void App::Impl::forget_followed() {
  for (std::size_t i = 0; i < state.contexts.size(); ++i) {
    const ContextScope scope(state, i);
    forget(static_cast<int>(Question::beside), &Answers::beside);
  }
  followed_.reset();
  if (follow_work_) follow_work_->cancelled = true;
  follow_work_ = nullptr;
}

bool App::Impl::apply_to_sides(const Command& command) {
  using enum CommandId;
  switch (command.id) {
    case CommandId::split:
      if (state.is_split())
        close_side(1 - state.active_context);
      else
        this->split(other_ready_source(state, state.position().source));
      return true;
    case put_beside: this->split(command.as<SourceId>()); return true;
    case other_side:
      state.active_context = 1 - state.active_context;
      ++state.window.view_serial;
      return true;
    case close_this_side: close_side(state.context_index()); return true;
    case activate_side: return true;  // What a command is meant for is active by now.
    case CommandId::swap_sides: this->swap_sides(); return true;
    case lock_time: this->set_lock(SameMoment::time); return true;
    case lock_requests: this->set_lock(SameMoment::requests); return true;
    case lock_nothing: this->set_lock({}); return true;
    case CommandId::set_lock: this->set_lock(command.as<std::optional<SameMoment>>()); return true;
    default: return false;
  }
}

App::Impl::Followed App::Impl::followed_now(std::size_t context) const {
  const ViewPosition& position = state.contexts[context].position;
  const Source* source = state.find_source(position.source);
  const HeapKey heap = source != nullptr && source->trace ? choose_heap(*source->trace, position.heap) : HeapKey{};
  return {position.source, heap, position.at};
}

// The side that is not active goes where the active one went. A side that was led there stays as it is when it becomes
// the active one: its moment is the other's already.
bool App::Impl::follow_lock() {
  if (!state.is_split() || !state.lock) return false;
  const std::size_t lead = state.active_context, other = 1 - lead;
  state.contexts[other].is_playing = false;  // It is led now.
  const Followed leads = followed_now(lead), follows = followed_now(other);
  if (leads.heap.empty() || follows.heap.empty() || follow_work_) return false;
  if (followed_ && (*followed_)[lead] == leads && (*followed_)[other] == follows) return false;
  const Source *source = find_source(leads.source), *beside = find_source(follows.source);
  // Two running jobs are each at their own end; the words say how far each has come.
  const bool is_end = leads.at.is_end();
  if (leads.at == "start" || (is_end && (source->live || beside->live))) {
    state.contexts[other].position.at = leads.at;
    followed_ = {followed_now(0), followed_now(1)};
    return follows.at != leads.at;
  }
  const ContextScope scope(state, lead);
  const auto moment = ready_moment();
  if (moment == nullptr) return false;
  follow_work_ = std::make_shared<Work>();
  pool_.post([this, work = follow_work_, moment, leads, follows, trace = beside->trace, lead, other,
              same = *state.lock]() -> WorkerPool::Finish {
    const auto found = find_moment_beside(*moment->trace, leads.heap, moment->position(leads.heap), *trace,
                                          follows.heap, same, work.get());
    return [this, work, found, trace, leads, follows, lead, other] {
      if (follow_work_ != work) return;
      follow_work_ = nullptr;
      // Meanwhile a person may have gone on, or to the other side: then it is looked for anew.
      const bool is_wanted = found && state.is_split() && state.active_context == lead &&
                             followed_now(lead).is_alike(leads) && followed_now(other).is_alike(follows);
      if (!is_wanted) return;
      state.contexts[other].position.at = {*trace, follows.heap.stream, found->position};
      followed_ = {leads, leads};
      (*followed_)[other] = follows;
      (*followed_)[other].at = state.contexts[other].position.at;
    };
  });
  return false;
}

}  // namespace hbmscope::gui
