// What commands do to the moment, the heap and the address that are looked at.
#include <algorithm>
#include <utility>

#include "app/gui/core/app_impl.h"

namespace hbmscope::gui {
namespace {

// A pinned moment always has a name; of the moment that is shown the end has none.
MomentName named_moment(const ViewPosition& position) {
  return position.at.empty() ? MomentName("end") : position.at;
}

}  // namespace

// One pinned moment at a time; pinning colours the change, and unpinning gives the colours back.
void App::Impl::pin(const MomentName& moment) {
  ViewPosition& position = state.context().position;
  position.pin = moment;
  position.lit.clear();
  if (!moment.empty())
    position.coloring = HeapColoring::change;
  else if (position.coloring == HeapColoring::change)
    position.coloring = HeapColoring::automatic;
}

// From where the pictures stand: a moment that is still being worked out is stepped on from once it is there.
void App::Impl::step_moment(std::int64_t by) {
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

// Where a block comes to the selected address, or goes from it.
void App::Impl::step_event_here(bool forward) {
  const auto& answer = state.answers().address;
  ViewPosition& position = state.context().position;
  const auto moment = ready_moment();
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

void App::Impl::go_to_failure(bool forward) {
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

void App::Impl::show_heap(HeapKey heap) {
  ViewPosition& position = state.context().position;
  if (heap.stream != position.heap.stream) position.span = {};  // Each stream has its own axis.
  position.heap = heap;
  position.addresses = {};
  position.address.reset();
}

// Of a file that is still being read: once it is there.
bool App::Impl::show_heap_named(const std::string& name) {
  const Source* source = state.source();
  side().wanted_heap.clear();
  if (source == nullptr || !source->trace) {
    side().wanted_heap = name;
    return false;
  }
  const Result<HeapKey> heap = find_heap(*source->trace, name);
  if (heap)
    show_heap(*heap);
  else
    state.window.notice = heap.error().text();
  return heap.has_value();
}

bool App::Impl::apply_to_trace(const Command& command) {
  ViewPosition& position = state.context().position;
  using enum CommandId;
  switch (command.id) {
    case show_heap_map: show_view(ViewKind::heap_map); return true;
    case show_timeline: show_view(ViewKind::timeline); return true;
    case show_failure: show_view(ViewKind::failure); return true;
    case show_fragmentation: show_view(ViewKind::fragmentation); return true;
    case show_address_time: show_view(ViewKind::address_time); return true;
    case show_sizes: show_view(ViewKind::sizes); return true;
    case show_compare: show_view(ViewKind::compare); return true;
    case show_beside: show_view(ViewKind::beside); return true;
    case show_tpu: show_view(ViewKind::tpu); return true;
    case pin_moment: pin(position.pin == named_moment(position) ? MomentName() : named_moment(position)); return true;
    case unpin_moment: pin({}); return true;
    case set_pin: pin(command.as<MomentName>()); return true;
    case swap_pin: position.at = std::exchange(position.pin, named_moment(position)); return true;
    case set_moment:
    case move_moment:
      position.at = command.as<MomentName>();
      side().unread_source = SourceId::none;
      return true;
    case go_to_peak: position.at = "peak"; return true;
    case go_to_end: position.at = "end"; return true;
    case CommandId::next_failure: go_to_failure(true); return true;
    case CommandId::previous_failure: go_to_failure(false); return true;
    case next_event: step_moment(1); return true;
    case previous_event: step_moment(-1); return true;
    case next_event_here: step_event_here(true); return true;
    case previous_event_here: step_event_here(false); return true;
    case play: toggle_play(); return true;
    case CommandId::stop_recording: ask_observer(link::RequestKind::stop_recording); return true;
    case CommandId::skip_to_now: ask_observer(link::RequestKind::skip_to_now); return true;
    case show_span: position.span = command.as<TimelineSpan>(); return true;
    case size_address_time: {
      const PixelSize size = command.as<PixelSize>();
      state.context().address_time_width = size.width;
      state.context().address_time_height = size.height;
      return true;
    }
    case show_addresses: position.addresses = command.as<AddressRange>(); return true;
    case size_timeline:
      state.context().timeline_width = static_cast<std::size_t>(std::max(0, command.as<PixelSize>().width));
      return true;
    case set_range:
    case move_range: position.range = command.as<TimeRange>(); return true;
    case CommandId::choose_heap: show_heap(command.as<HeapKey>()); return true;
    case choose_heap_named: show_heap_named(command.as<std::string>()); return true;
    case set_coloring:
      position.coloring = command.as<HeapColoring>();
      position.lit.clear();
      return true;
    case toggle_regions: position.by_region = !position.by_region; return true;
    case set_rows: position.by_region = command.as<MapRows>() == MapRows::by_region; return true;
    case set_lit:
      position.lit = position.lit == command.as<std::string>() ? std::string() : command.as<std::string>();
      return true;
    case select_address: {
      const auto& place = command.as<PlaceToSelect>();
      if (place.heap) position.heap = *place.heap;
      position.address = place.address;
      position.selection = place.frame;
      position.cell = place.cell;
      return true;
    }
    default: return false;
  }
}

}  // namespace hbmscope::gui
