// Playing a trace. It runs in real time, but a long span takes ten seconds and a short one three, because most traces
// of one training step are too short to watch in real time.
#include <algorithm>

#include "app/gui/core/answers.h"
#include "app/gui/core/playing.h"

namespace hbmscope::gui {
namespace {

constexpr double seconds_most = 10, seconds_least = 3;

double seconds_for(const Stream& stream, TimelineSpan span) {
  if (!stream.has_times()) return seconds_most;
  return std::clamp(static_cast<double>(span.length()) / 1e9, seconds_least, seconds_most);
}

// For a running job, Hold freezes the selected time while the job and its recording continue; a second press follows
// the end again. False if the active source is not a running job.
bool toggle_hold(AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || !source->live) return false;
  ViewPosition& position = state.context().position;
  if (!position.is_at_end()) {
    position.at.clear();
    return true;
  }
  const auto moment = state.answers().moment.value;
  if (moment == nullptr) return true;
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.stream < moment->moment.positions.size())  // Also if no heap holds anything.
    position.at = {*moment->trace, heap.stream, moment->position(heap)};
  return true;
}

}  // namespace

// Plays the selected range, otherwise the visible span of the timeline. It starts at the selected time, or at the
// beginning if that time is not inside.
void toggle_play(AppState& state) {
  if (toggle_hold(state)) return;
  Context& context = state.context();
  if (context.is_playing) {
    context.is_playing = false;
    return;
  }
  const auto moment = ready_moment(state);
  if (moment == nullptr) return;
  const HeapKey heap = choose_heap(*moment->trace, context.position.heap);
  if (heap.empty()) return;
  const Stream& stream = moment->stream(heap);
  TimelineSpan span = context.position.span.empty() ? whole_span_of(stream) : context.position.span;
  const Answer<RangeAnswer>& range = context.answers.range;
  if (range.state == AnswerState::ready && range.value->range == context.position.range)
    span = {axis_of(stream, range.value->from.positions[heap.stream], range.value->from_ns[heap.stream]),
            axis_of(stream, range.value->to.positions[heap.stream], range.value->to_ns[heap.stream])};
  if (span.empty()) return;
  const double speed = static_cast<double>(span.length()) / seconds_for(stream, span);
  const std::int64_t at = axis_of(stream, moment->position(heap), moment->time_ns(heap));
  if (at > span.begin && at < span.end) span.begin = at;
  state.context().notes.play = {std::chrono::steady_clock::now(), span, heap, context.position.source,
                                context.position.at};
  context.is_playing = true;
  context.play_speed = stream.has_times() ? speed / 1e9 : speed;
}

// One time after the other: the next one is requested when the picture of the previous one is ready, so that a slow
// trace skips pictures instead of falling behind.
bool advance_play(AppState& state, std::chrono::steady_clock::time_point now) {
  Context& context = state.context();
  if (!context.is_playing) return false;
  ContextNotes::Play& play = state.context().notes.play;
  ViewPosition& position = context.position;
  if (position.at != play.at || position.source != play.source || context.answers.moment.failed()) {
    context.is_playing = false;
    return true;
  }
  const auto moment = ready_moment(state);
  if (moment == nullptr || context.answers.heap_map.pending() || context.answers.free.pending()) return false;
  const Stream& stream = moment->stream(play.heap);
  const double unit = stream.has_times() ? 1e9 : 1;
  const double passed = std::chrono::duration<double>(now - play.since).count() * context.play_speed * unit;
  const std::int64_t at = passed >= static_cast<double>(play.span.length())
                              ? play.span.end
                              : play.span.begin + static_cast<std::int64_t>(passed);
  if (at == play.span.end) context.is_playing = false;
  const std::uint64_t next = stream.has_times() ? stream.position_of_time(stream.zero_ns() + at)
                                                : std::min(static_cast<std::uint64_t>(at), stream.end_position());
  if (next == moment->position(play.heap)) return !context.is_playing;
  play.at = position.at = MomentName(*moment->trace, play.heap.stream, next);
  return true;
}

namespace {

// Nothing if the source is no running job with times.
std::optional<TimelineSpan> whole_of_running(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || !source->live || !source->trace) return std::nullopt;
  const HeapKey heap = choose_heap(*source->trace, state.position().heap);
  if (heap.empty() || !source->trace->streams[heap.stream].has_times()) return std::nullopt;
  return whole_span_of(source->trace->streams[heap.stream]);
}

}  // namespace

bool follow_end(AppState& state) {
  constexpr std::int64_t minute_ns = 60'000'000'000;
  ContextNotes& notes = state.context().notes;
  ViewPosition& position = state.context().position;
  const auto whole = whole_of_running(state);
  // A held time stands still, and so does a picture of all that there was until then.
  if (whole && !position.is_at_end() && position.span.empty()) {
    position.span = *whole;
    return true;
  }
  if (!whole || !notes.follows_end || !position.is_at_end()) return false;
  const std::int64_t length = notes.followed_length.value_or(minute_ns);
  const bool shows_all = length == 0 || length >= whole->end;
  const TimelineSpan span = shows_all ? TimelineSpan() : TimelineSpan{whole->end - length, whole->end};
  if (span == position.span) return false;
  position.span = span;
  return true;
}

bool keep_moment_in_sight(AppState& state) {
  ViewPosition& position = state.context().position;
  const auto moment = ready_moment(state);
  if (moment == nullptr) return false;
  const HeapKey heap = choose_heap(*moment->trace, position.heap);
  if (heap.empty()) return false;
  auto& sight = state.context().notes.sight;
  const bool is_jump = sight && sight->at != position.at && sight->span == position.span;
  bool has_moved = false;
  if (const TimelineSpan span = position.span; is_jump && !span.empty()) {
    const Stream& stream = moment->stream(heap);
    const std::int64_t at = axis_of(stream, moment->position(heap), moment->time_ns(heap));
    if (at < span.begin || at > span.end) {
      const std::int64_t last = std::max<std::int64_t>(0, whole_span_of(stream).end - span.length());
      const std::int64_t begin = std::clamp<std::int64_t>(at - span.length() / 2, 0, last);
      position.span = {begin, begin + span.length()};
      note_span(state, position.span);
      has_moved = true;
    }
  }
  sight = {position.at, heap, position.span};
  return has_moved;
}

void note_span(AppState& state, TimelineSpan span) {
  ContextNotes& notes = state.context().notes;
  const auto whole = whole_of_running(state);
  if (!whole) return;
  // The user saw the end of the timeline that was drawn, which is older than the newest events. A hundredth of the span
  // is about the width of the marker of the current time.
  const auto& drawn = state.answers().timeline.value;
  const std::int64_t end = drawn ? std::min(whole->end, drawn->whole.end) : whole->end;
  notes.follows_end = span.empty() || span.end >= end - span.length() / 100;
  if (notes.follows_end) notes.followed_length = span.length();
}

}  // namespace hbmscope::gui
