// Commands that change the selected time, heap or address.
#include <algorithm>
#include <utility>

#include "app/gui/core/answers.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/playing.h"

namespace hbmscope::gui {
namespace {

// A pinned time always has a name, while the name of the selected time is empty at the end.
MomentName named_moment(const ViewPosition& position) {
  return position.at.empty() ? MomentName("end") : position.at;
}

// Steps from the time that the pictures show. Does nothing while it is being computed.
void step_moment(AppState& state, std::int64_t by) {
  const auto& moment = state.answers().moment;
  ViewPosition& position = state.context().position;
  if (moment.state != AnswerState::ready) return;
  const HeapKey heap = choose_heap(*moment.value->trace, position.heap);
  if (heap.empty()) return;
  const auto end = static_cast<std::int64_t>(moment.value->stream(heap).end_position());
  const auto now = static_cast<std::int64_t>(moment.value->position(heap));
  const auto next = static_cast<std::uint64_t>(std::clamp<std::int64_t>(now + by, 0, end));
  position.at = {*moment.value->trace, heap.stream, next};
}

// To the next allocation or release at the selected address.
void step_event_here(AppState& state, bool forward) {
  const auto& answer = state.answers().address;
  ViewPosition& position = state.context().position;
  const auto moment = ready_moment(state);
  if (!position.address || answer.state != AnswerState::ready || moment == nullptr) {
    state.window.notice = "Select a block or a gap first.";
    return;
  }
  const HeapKey heap = answer.value->heap;
  const std::uint64_t now = moment->position(heap);
  std::optional<std::uint64_t> found;
  const auto offer = [&](std::uint64_t event) {
    if (event == HeldRow::no_event) return;
    const std::uint64_t after = event + 1;
    if (forward ? after > now && (!found || after < *found) : after < now && (!found || after > *found)) found = after;
  };
  for (const HeldRow& row : answer.value->history.rows) {
    offer(row.event);
    offer(row.end_event);
  }
  if (found)
    position.at = {*moment->trace, heap.stream, *found};
  else
    state.window.notice = forward ? "No later event at this address." : "No earlier event at this address.";
}

void go_to_failure(AppState& state, bool forward) {
  const auto& moment = state.answers().moment;
  ViewPosition& position = state.context().position;
  if (moment.state != AnswerState::ready) return;
  const HeapKey heap = choose_heap(*moment.value->trace, position.heap);
  if (heap.empty()) return;
  const Stream& stream = moment.value->stream(heap);
  const std::uint64_t now = moment.value->position(heap);
  const auto found = forward ? next_failure(stream, now) : previous_failure(stream, now);
  if (found) {
    position.at = {*moment.value->trace, heap.stream, *found};
  } else {
    state.window.notice = forward ? "No later out-of-memory." : "No earlier out-of-memory.";
  }
}

void add_to_selected(ViewPosition& position, const PlaceToSelect& place) {
  const bool is_in_other_heap = place.heap && !position.heap.empty() && !(*place.heap == position.heap);
  if (!position.address || is_in_other_heap) {
    if (place.heap) position.heap = *place.heap;
    position.address = place.address;
    position.also.clear();
  } else if (const auto found = std::find(position.also.begin(), position.also.end(), place.address);
             found != position.also.end()) {
    position.also.erase(found);
  } else if (position.address != place.address) {
    position.also.push_back(place.address);
  } else if (position.also.empty()) {
    position.address.reset();
  } else {
    position.address = position.also.back();
    position.also.pop_back();
  }
  position.selection = {};
  position.cell.reset();
}

void show_peak(AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || !source->trace) return;
  ViewPosition& position = state.context().position;
  position.at = peak_moment(*source->trace, choose_heap(*source->trace, position.heap));
}

// With a little of what is around it.
void show_step(AppState& state, const TraceSteps& steps, std::size_t step) {
  const TimelineSpan span = steps.span_of(step);
  const std::int64_t margin = std::max<std::int64_t>(1, span.length() / 20);
  state.context().position.span = {std::max<std::int64_t>(0, span.begin - margin), span.end + margin};
  note_span(state, state.context().position.span);
}

std::string_view why_no_steps(const AppState& state) {
  const Source* source = state.source();
  if (source != nullptr && source->is_part()) return "Steps are found once the recording is complete.";
  if (state.answers().steps.pending()) return "Looking for steps ...";
  return "This trace has no markers of steps.";
}

void go_to_step(AppState& state, bool forward) {
  ViewPosition& position = state.context().position;
  const auto steps = shown_steps(state);
  if (!steps) {
    state.window.notice = why_no_steps(state);
    return;
  }
  const auto now = current_step(state);
  const bool is_at_limit = forward ? now && *now + 1 == steps->steps.size() : !now || *now == 0;
  if (is_at_limit) {
    state.window.notice = forward ? "This is the last step." : "This is the first step.";
    return;
  }
  const std::size_t wanted = !now ? 0 : forward ? *now + 1 : *now - 1;
  position.at = {*steps->trace, steps->heap.stream, steps->steps[wanted].event};
  if (position.overlays_step) show_step(state, *steps, wanted);
}

void toggle_overlay(AppState& state) {
  ViewPosition& position = state.context().position;
  position.overlays_step = !position.overlays_step;
  if (!position.overlays_step) return;
  const auto step = current_step(state);
  if (!step || *step == 0) {
    position.overlays_step = false;
    state.window.notice = !shown_steps(state) ? why_no_steps(state)
                          : step              ? "This is the first step: there is none before it."
                                              : "This time is in no step, as far as the trace's markers say.";
    return;
  }
  show_step(state, *shown_steps(state), *step);
}

void toggle_layout(ViewPosition& position, MapLayout layout) {
  position.map_layout = position.map_layout == layout ? MapLayout::wrapped : layout;
}

}  // namespace

bool apply_to_trace(AppState& state, const Command& command) {
  ViewPosition& position = state.context().position;
  using enum CommandId;
  switch (command.id) {
    case pin_moment:
      pin(state, position.pin == named_moment(position) ? MomentName() : named_moment(position));
      return true;
    case unpin_moment: pin(state, {}); return true;
    case set_pin: pin(state, command.as<MomentName>()); return true;
    case swap_pin: position.at = std::exchange(position.pin, named_moment(position)); return true;
    case set_moment:
    case move_moment:
      position.at = command.as<MomentName>();
      state.context().notes.unread_source = SourceId::none;
      return true;
    case go_to_peak: show_peak(state); return true;
    case go_to_end: position.at = "end"; return true;
    case CommandId::next_failure: go_to_failure(state, true); return true;
    case CommandId::previous_failure: go_to_failure(state, false); return true;
    case next_step: go_to_step(state, true); return true;
    case previous_step: go_to_step(state, false); return true;
    case overlay_step: toggle_overlay(state); return true;
    case next_event: step_moment(state, 1); return true;
    case previous_event: step_moment(state, -1); return true;
    case next_event_here: step_event_here(state, true); return true;
    case previous_event_here: step_event_here(state, false); return true;
    case play: toggle_play(state); return true;
    case show_span:
      position.span = command.as<TimelineSpan>();
      note_span(state, position.span);
      return true;
    case size_address_time: {
      const PixelSize size = command.as<PixelSize>();
      state.context().address_time_width = size.width;
      state.context().address_time_height = size.height;
      return true;
    }
    case show_addresses: position.addresses = command.as<AddressRange>(); return true;
    case size_timeline:
      state.context().timeline_width = static_cast<std::size_t>(std::max(0, command.as<PixelSize>().width));
      state.context().timeline_height = static_cast<std::size_t>(std::max(0, command.as<PixelSize>().height));
      return true;
    case set_range:
    case move_range: position.range = command.as<TimeRange>(); return true;
    case CommandId::choose_heap:
      position.all_devices = false;
      show_heap(state, command.as<HeapKey>());
      return true;
    case toggle_all_devices: position.all_devices = !position.all_devices; return true;
    case choose_heap_named: show_heap_named(state, command.as<std::string>()); return true;
    case set_coloring:
      position.coloring = command.as<HeapColoring>();
      position.lit.clear();
      return true;
    case toggle_regions: toggle_layout(position, MapLayout::by_region); return true;
    case toggle_strip: toggle_layout(position, MapLayout::strip); return true;
    case set_map_layout: position.map_layout = command.as<MapLayout>(); return true;
    case set_lit:
      position.lit = position.lit == command.as<std::string>() ? std::string() : command.as<std::string>();
      return true;
    case select_also: add_to_selected(position, command.as<PlaceToSelect>()); return true;
    case select_address: {
      const auto& place = command.as<PlaceToSelect>();
      if (place.heap) position.heap = *place.heap;
      position.address = place.address;
      position.selection = place.frame;
      position.log_line.reset();
      position.cell = place.cell;
      return true;
    }
    default: return false;
  }
}

}  // namespace hbmscope::gui
