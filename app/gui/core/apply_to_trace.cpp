// What commands do to the moment, the heap and the address that are looked at.
#include <algorithm>
#include <charconv>
#include <utility>

#include "app/gui/core/app_impl.h"

namespace hbmscope::gui {
namespace {

std::optional<std::uint64_t> parse_address(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return address;
}

// A pinned moment always has a name; of the moment that is shown the end has none.
std::string named_moment(const ViewPosition& position) {
  return position.at.empty() ? "end" : position.at;
}

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

}  // namespace

// One pinned moment at a time; pinning colours the change, and unpinning gives the colours back.
void App::Impl::pin(const std::string& moment) {
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
  position.at = text_from_position(*moment.value->trace, heap.stream, next);
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
    position.at = text_from_position(*moment->trace, heap.stream, *found);
  else
    state.window.notice = forward ? "Nothing happens to this address after this moment."
                                  : "Nothing happened to this address before this moment.";
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
    position.at = text_from_position(*moment.value->trace, heap.stream, *found);
  } else {
    state.window.notice = forward ? "No out-of-memory comes after this moment." : "No out-of-memory came before this.";
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
    case pin_moment: pin(position.pin == named_moment(position) ? std::string() : named_moment(position)); return true;
    case unpin_moment: pin({}); return true;
    case set_pin: pin(command.text); return true;
    case swap_pin: position.at = std::exchange(position.pin, named_moment(position)); return true;
    case set_moment:
    case move_moment:
      position.at = command.text;
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
    case show_span: position.span = parse_span(command.text).value_or(TimelineSpan{}); return true;
    case size_address_time: {
      const std::size_t cross = command.text.find('x');
      Context& context = state.context();
      context.address_time_width = static_cast<int>(parse_count(command.text.substr(0, cross)).value_or(0));
      context.address_time_height =
          static_cast<int>(cross == std::string::npos ? 0 : parse_count(command.text.substr(cross + 1)).value_or(0));
      return true;
    }
    case show_addresses:
      position.addresses = {};
      if (command.texts.size() == 2) {
        const auto begin = parse_address(command.texts[0]), end = parse_address(command.texts[1]);
        if (begin && end && *begin < *end) position.addresses = {*begin, *end};
      }
      return true;
    case size_timeline: state.context().timeline_width = parse_count(command.text).value_or(0); return true;
    case set_range:
    case move_range:
      if (command.texts.size() == 2) position.range = {command.texts[0], command.texts[1]};
      return true;
    case CommandId::choose_heap:
      if (const auto heap = parse_heap_key(command.text))
        show_heap(*heap);
      else
        show_heap_named(command.text);
      return true;
    case set_coloring:
      if (const auto coloring = parse_coloring(command.text)) position.coloring = *coloring;
      position.lit.clear();
      return true;
    case toggle_regions: position.by_region = !position.by_region; return true;
    case set_rows: position.by_region = command.text == "region"; return true;
    case set_lit: position.lit = position.lit == command.text ? std::string() : command.text; return true;
    case select_address: {
      // "0x1000", or of another heap than the one that is shown "1:2/0x1000"; `texts`: the pixel's addresses.
      const std::size_t slash = command.text.find('/');
      if (const auto heap = parse_heap_key(command.text.substr(0, slash)); heap && slash != std::string::npos)
        position.heap = *heap;
      position.address = parse_address(command.text.substr(slash == std::string::npos ? 0 : slash + 1));
      position.selection = command.frame;
      position.cell.reset();
      if (command.texts.size() == 2) {
        const auto begin = parse_address(command.texts[0]), end = parse_address(command.texts[1]);
        if (begin && end) position.cell = AddressRange{*begin, *end};
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace hbmscope::gui
