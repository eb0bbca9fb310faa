#include "app/gui/core/side_by_side.h"

#include "app/gui/core/answers.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/filter_text.h"
#include "app/gui/core/open_sources.h"

#include <utility>

#include "app/gui/core/looking.h"

namespace hbmscope::gui {
namespace {

// The most likely second file: the one opened last.
SourceId other_ready_source(const AppState& state_, SourceId front) {
  for (auto source = state_.sources.rbegin(); source != state_.sources.rend(); ++source)
    if (source->id != front && source->state == AnswerState::ready) return source->id;
  return front;
}

}  // namespace

SideBySide::SideBySide(AppState& state, Answering& asking, WorkerPool& pool)
    : state_(state), asking_(asking), pool_(pool) {}

// Puts `other_side` next to the active source. If there are already two sides, it replaces the inactive one.
void SideBySide::split(SourceId other_side) {
  forget_followed();
  const std::size_t front = state_.active_context;
  const bool is_new = !state_.is_split();
  if (is_new) {
    Context other;
    other.position = state_.contexts.front().position;
    state_.contexts.push_back(std::move(other));
  }
  const std::size_t other = 1 - front;
  ViewPosition& position = state_.contexts[other].position;
  const bool is_other_run = position.source != other_side && is_new;
  if (position.source != other_side) enter_source(other, other_side);
  position.baseline = SourceId::none;
  if (is_other_run && !state_.lock) set_lock(SameMoment::time);
}

void SideBySide::close_side(std::size_t context) {
  if (!state_.is_split()) return;
  {
    const ContextScope scope(state_, context);
    asking_.forget_all();
  }
  forget_followed();
  state_.contexts.erase(state_.contexts.begin() + static_cast<std::ptrdiff_t>(context));
  state_.active_context = 0;
  set_lock({});
  if (state_.position().view == ViewKind::side_by_side) show_view(state_, ViewKind::heap_map);
  ++state_.window.view_serial;
}

void SideBySide::swap_sides() {
  std::swap(state_.contexts[0], state_.contexts[1]);
  forget_followed();
  state_.active_context = 1 - state_.active_context;
}

void SideBySide::set_lock(std::optional<SameMoment> lock) {
  state_.lock = lock;
  forget_followed();
}

// After a change of the sides: the differences are computed again, and the active side leads.
void SideBySide::forget_followed() {
  for (std::size_t i = 0; i < state_.contexts.size(); ++i) {
    const ContextScope scope(state_, i);
    asking_.forget(&Answers::side_by_side);
  }
  followed_.reset();
  if (follow_work_) follow_work_->cancelled = true;
  follow_work_ = nullptr;
}

void SideBySide::cancel() {
  if (follow_work_) follow_work_->cancelled = true;
}

// Time, heap, address and range belong to one file. The next file starts at its own failure or peak.
void SideBySide::enter_source(std::size_t context, SourceId id) {
  ViewPosition& position = state_.contexts[context].position;
  // Keep what was requested together with the file.
  const bool is_first = position.source == SourceId::none;
  const bool is_named = is_first && !position.at.empty();
  position.source = id;
  if (is_named) return;
  const Source* source = state_.find_source(id);
  const bool is_ready = source != nullptr && source->state == AnswerState::ready;
  position.at = is_ready ? source->opening_at : MomentName();
  forget_followed();
  state_.contexts[context].notes.unread_source = is_ready ? SourceId::none : id;
  state_.contexts[context].notes.chooses_view = !is_ready && !is_first;
  if (is_first) return;
  position.log_line.reset();
  unpin(position);
  position.heap = {};
  position.address.reset();
  position.span = is_ready && source->trace ? opening_span(*source, position) : TimelineSpan();
  position.overlays_step = false;
  position.addresses = {};
  position.range = {};
  position.cell.reset();
  position.lit.clear();
  // A filter of blocks means nothing in a profile.
  if (is_ready && !why_no_filter(*source, position.request.where).empty()) position.request.where.clear();
  state_.contexts[context].notes.follows_end = true;
  state_.contexts[context].notes.followed_length.reset();
}

SideBySide::Followed SideBySide::followed_now(std::size_t context) const {
  const ViewPosition& position = state_.contexts[context].position;
  const Source* source = state_.find_source(position.source);
  const HeapKey heap = source != nullptr && source->trace ? choose_heap(*source->trace, position.heap) : HeapKey{};
  return {position.source, heap, position.at};
}

// The inactive side goes where the active one went. A side that followed stays where it is when it becomes active,
// since its time is already the same.
bool SideBySide::follow_lock() {
  if (!state_.is_split() || !state_.lock) return false;
  const std::size_t lead = state_.active_context, other = 1 - lead;
  state_.contexts[other].is_playing = false;  // It follows the other side now.
  const Followed leads = followed_now(lead), follows = followed_now(other);
  if (leads.heap.empty() || follows.heap.empty() || follow_work_) return false;
  if (followed_ && (*followed_)[lead] == leads && (*followed_)[other] == follows) return false;
  const Source *source = state_.find_source(leads.source), *other_side = state_.find_source(follows.source);
  // Two running jobs are each shown at their own end.
  const bool is_end = leads.at.is_end();
  const bool is_live_end = is_end && (source->live || other_side->live);
  if (leads.at == "start" || is_live_end) {
    state_.contexts[other].position.at = leads.at;
    followed_ = {followed_now(0), followed_now(1)};
    return follows.at != leads.at;
  }
  // Two runs are each shown at the peak of their heap, or at their failure: that is when they can be compared.
  const bool is_peak = leads.at == "peak" || leads.at == peak_moment(*source->trace, leads.heap);
  if (leads.source != follows.source && *state_.lock == SameMoment::time && (is_peak || leads.at == "oom")) {
    const bool has_failed = !is_peak && leads.at.find_in(*other_side->trace);
    state_.contexts[other].position.at = has_failed ? leads.at : peak_moment(*other_side->trace, follows.heap);
    followed_ = {followed_now(0), followed_now(1)};
    return follows.at != state_.contexts[other].position.at;
  }
  const ContextScope scope(state_, lead);
  const auto moment = ready_moment(state_);
  if (moment == nullptr) return false;
  follow_work_ = std::make_shared<Work>();
  pool_.post([this, work = follow_work_, moment, leads, follows, trace = other_side->trace, lead, other,
              same = *state_.lock]() -> WorkerPool::Finish {
    const auto found = find_matching_moment(*moment->trace, leads.heap, moment->position(leads.heap), *trace,
                                            follows.heap, same, work.get());
    return [this, work, found, trace, leads, follows, lead, other] {
      if (follow_work_ != work) return;
      follow_work_ = nullptr;
      // If the user moved or changed sides in the meantime, the search starts again.
      const bool is_wanted = found && state_.is_split() && state_.active_context == lead &&
                             followed_now(lead).is_alike(leads) && followed_now(other).is_alike(follows);
      if (!is_wanted) return;
      state_.contexts[other].position.at = {*trace, follows.heap.stream, found->position};
      followed_ = {leads, leads};
      (*followed_)[other] = follows;
      (*followed_)[other].at = state_.contexts[other].position.at;
    };
  });
  return false;
}

namespace apply {

// One line each, as in a table.
// clang-format off
void split(AppParts& parts) {
  AppState& state = parts.state;
  if (state.is_split())
    parts.sides.close_side(1 - state.active_context);
  else
    parts.sides.split(other_ready_source(state, state.position().source));
}
void split_with(AppParts& parts, const SourceId& source) { parts.sides.split(source); }
void other_side(AppParts& parts) {
  parts.state.active_context = 1 - parts.state.active_context;
  ++parts.state.window.view_serial;
}
void close_this_side(AppParts& parts) { parts.sides.close_side(parts.state.context_index()); }
void activate_side(AppParts&) {}  // App has already made the command's side the active one.
void swap_sides(AppParts& parts) { parts.sides.swap_sides(); }
void lock_time(AppParts& parts) { parts.sides.set_lock(SameMoment::time); }
void lock_requests(AppParts& parts) { parts.sides.set_lock(SameMoment::requests); }
void lock_nothing(AppParts& parts) { parts.sides.set_lock({}); }
void set_lock(AppParts& parts, const std::optional<SameMoment>& lock) { parts.sides.set_lock(lock); }
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
