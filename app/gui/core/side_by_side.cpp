// Two contexts side by side: made, closed, swapped, and held at the same moment.
#include <algorithm>
#include <utility>

#include "analysis/query/moment_beside.h"
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

bool is_same_everywhere(std::string_view at) {
  return at.empty() || at == "end" || at == "start";
}

SameMoment same_of(LockBy lock) {
  return lock == LockBy::requests ? SameMoment::requests : SameMoment::time;
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
  state.contexts.erase(state.contexts.begin() + static_cast<std::ptrdiff_t>(context));
  sides_.erase(sides_.begin() + static_cast<std::ptrdiff_t>(context));
  state.active_context = 0;
  set_lock(LockBy::nothing);
  if (state.position().view == ViewKind::beside) show_view(ViewKind::heap_map);
  ++state.window.view_serial;
}

void App::Impl::swap_sides() {
  std::swap(state.contexts[0], state.contexts[1]);
  std::swap(sides_[0], sides_[1]);
  forget_followed();
  state.active_context = 1 - state.active_context;
}

void App::Impl::set_lock(LockBy lock) {
  state.lock = lock;
  forget_followed();
}

// Both sides are as they are now; the next time the active one leads.
void App::Impl::forget_followed() {
  followed_ = {};
  followed_short_ = SourceId::none;
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
    case put_beside: this->split(command.source); return true;
    case other_side:
      state.active_context = 1 - state.active_context;
      ++state.window.view_serial;
      return true;
    case close_this_side: close_side(state.context_index()); return true;
    case activate_side: return true;  // What a command is meant for is active by now.
    case CommandId::swap_sides: this->swap_sides(); return true;
    case lock_time: this->set_lock(LockBy::time); return true;
    case lock_requests: this->set_lock(LockBy::requests); return true;
    case lock_nothing: this->set_lock(LockBy::nothing); return true;
    case CommandId::set_lock:
      if (const auto lock = parse_lock(command.text)) this->set_lock(*lock);
      return true;
    default: return false;
  }
}

// The side that is not active goes where the active one went. A side that was led there stays as it is when it becomes
// the active one: its moment is the other's already.
bool App::Impl::follow_lock() {
  if (!state.is_split() || state.lock == LockBy::nothing) return false;
  const std::size_t lead = state.active_context, other = 1 - lead;
  const ViewPosition& leads = state.contexts[lead].position;
  ViewPosition& follows = state.contexts[other].position;
  const Source *source = find_source(leads.source), *beside = find_source(follows.source);
  if (source == nullptr || beside == nullptr || !source->trace || !beside->trace) return false;
  const bool goes_on = followed_short_ != SourceId::none && followed_short_ != beside->id;
  if (follow_work_ || (followed_[lead] == leads.at && !goes_on)) return false;
  if (is_same_everywhere(leads.at)) {
    const bool is_elsewhere = follows.at != leads.at;
    follows.at = leads.at;
    followed_ = {leads.at, leads.at};
    followed_short_ = SourceId::none;
    return is_elsewhere;
  }
  const ContextScope scope(state, lead);
  const auto moment = ready_moment();
  if (moment == nullptr) return false;
  const HeapKey heap = choose_heap(*moment->trace, leads.heap), other_heap = choose_heap(*beside->trace, follows.heap);
  if (heap.empty() || other_heap.empty()) return false;
  follow_work_ = std::make_shared<Work>();
  pool_.post([this, work = follow_work_, moment, heap, trace = beside->trace, other_heap, at = leads.at, other,
              id = beside->id, same = same_of(state.lock)]() -> WorkerPool::Finish {
    const auto found =
        find_moment_beside(*moment->trace, heap, moment->position(heap), *trace, other_heap, same, work.get());
    return [this, work, found, trace, other_heap, at, other, id] {
      if (follow_work_ != work) return;
      follow_work_ = nullptr;
      if (!found || !state.is_split()) return;
      state.contexts[other].position.at = text_from_position(*trace, other_heap.stream, found->position);
      followed_[1 - other] = at;
      followed_[other] = state.contexts[other].position.at;
      followed_short_ = found->is_short ? id : SourceId::none;
    };
  });
  return false;
}

}  // namespace hbmscope::gui
