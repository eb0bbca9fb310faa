// Commands that change the selected time, heap or address.
#include <algorithm>
#include <utility>

#include "app/gui/core/answers.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/looking.h"
#include "app/gui/core/marked_span.h"
#include "app/gui/core/playing.h"
#include "app/gui/core/view_row.h"

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
    state.window.notice = forward ? "No later failure." : "No earlier failure.";
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

// Automatic where that is what is wanted anyway, so that the choice also holds for other heaps and zooms.
void toggle_layout(AppState& state, MapLayout layout) {
  ViewPosition& position = state.context().position;
  const MapLayout shown = map_layout_of(state, state.context_index());
  const MapLayout wanted = shown != layout ? layout : MapLayout::wrapped;
  position.map_layout = MapLayout::automatic;
  if (map_layout_of(state, state.context_index()) != wanted) position.map_layout = wanted;
}

}  // namespace

namespace apply {

// One line each, as in a table.
// clang-format off
void pin_moment(AppParts& parts) {
  const ViewPosition& position = parts.state.position();
  if (!position.pin.empty()) return pin(parts.state, {});
  pin(parts.state, named_moment(position));
  if (!parts.state.window.maximised) show_view(parts.state, ViewKind::compare);
}
void unpin_moment(AppParts& parts) { pin(parts.state, {}); }
void set_pin(AppParts& parts, const MomentName& moment) { pin(parts.state, moment); }
void swap_pin(AppParts& parts) {
  ViewPosition& position = parts.state.context().position;
  position.at = std::exchange(position.pin, named_moment(position));
}
void set_moment(AppParts& parts, const MomentName& moment) {
  parts.state.context().position.at = moment;
  parts.state.context().notes.unread_source = SourceId::none;
}
void move_moment(AppParts& parts, const MomentName& moment) { set_moment(parts, moment); }
void go_to_peak(AppParts& parts) { show_peak(parts.state); }
void go_to_end(AppParts& parts) { parts.state.context().position.at = "end"; }
void next_failure(AppParts& parts) { go_to_failure(parts.state, true); }
void previous_failure(AppParts& parts) { go_to_failure(parts.state, false); }
void next_step(AppParts& parts) { go_to_step(parts.state, true); }
void previous_step(AppParts& parts) { go_to_step(parts.state, false); }
void next_span(AppParts& parts) { go_to_marked_span(parts.state, true); }
void previous_span(AppParts& parts) { go_to_marked_span(parts.state, false); }
void show_spans(AppParts& parts) {
  set_table(parts, "spans");
  set_view(parts, ViewKind::tables);
}
void show_marked_span(AppParts& parts, const MarkPlace& place) { gui::show_marked_span(parts.state, place); }
void overlay_step(AppParts& parts) { toggle_overlay(parts.state); }
void next_event(AppParts& parts) { step_moment(parts.state, 1); }
void previous_event(AppParts& parts) { step_moment(parts.state, -1); }
void next_event_here(AppParts& parts) { step_event_here(parts.state, true); }
void previous_event_here(AppParts& parts) { step_event_here(parts.state, false); }
void play(AppParts& parts) { toggle_play(parts.state); }
void show_span(AppParts& parts, const TimelineSpan& span) {
  parts.state.context().position.span = span;
  note_span(parts.state, span);
}
void size_address_time(AppParts& parts, const PixelSize& size) {
  parts.state.context().address_time_width = size.width;
  parts.state.context().address_time_height = size.height;
}
void size_timeline(AppParts& parts, const PixelSize& size) {
  parts.state.context().timeline_width = static_cast<std::size_t>(std::max(0, size.width));
  parts.state.context().timeline_height = static_cast<std::size_t>(std::max(0, size.height));
}
void show_addresses(AppParts& parts, const AddressRange& addresses) {
  parts.state.context().position.addresses = addresses;
}
void set_range(AppParts& parts, const TimeRange& range) { parts.state.context().position.range = range; }
void move_range(AppParts& parts, const TimeRange& range) { set_range(parts, range); }
void choose_heap(AppParts& parts, const HeapKey& heap) {
  parts.state.context().position.all_devices = false;
  show_heap(parts.state, heap);
}
void choose_row(AppParts& parts, const HeapKey& heap) {
  const TimelineSpan span = parts.state.position().span;
  show_heap(parts.state, heap);
  parts.state.context().position.span = span;  // All rows have one axis.
}
void choose_heap_named(AppParts& parts, const std::string& name) { show_heap_named(parts.state, name); }
void toggle_all_devices(AppParts& parts) {
  bool& is_all = parts.state.context().position.all_devices;
  is_all = !is_all;
  // Of the pictures, only the timeline shows all devices; a low window has room for one picture.
  if (is_all && row_of(parts.state.position().view).in_trace == DockPlace::centre)
    show_view(parts.state, ViewKind::timeline);
}
void set_coloring(AppParts& parts, const HeapColoring& coloring) {
  parts.state.context().position.coloring = coloring;
  parts.state.context().position.lit.clear();
}
void toggle_regions(AppParts& parts) { toggle_layout(parts.state, MapLayout::by_region); }
void toggle_strip(AppParts& parts) { toggle_layout(parts.state, MapLayout::strip); }
void set_map_layout(AppParts& parts, const MapLayout& layout) { parts.state.context().position.map_layout = layout; }
void set_lit(AppParts& parts, const std::string& entry) {
  std::string& lit = parts.state.context().position.lit;
  lit = lit == entry ? std::string() : entry;
}
void select_also(AppParts& parts, const PlaceToSelect& place) {
  add_to_selected(parts.state.context().position, place);
}
void select_address(AppParts& parts, const PlaceToSelect& place) {
  ViewPosition& position = parts.state.context().position;
  if (place.heap) position.heap = *place.heap;
  position.address = place.address;
  position.selection = place.frame;
  position.log_line.reset();
  position.cell = place.cell;
}
void go_to_release(AppParts& parts, const PlaceToSelect& place) {
  select_address(parts, place);
  parts.state.context().notes.wanted_release = place.address;
}
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
