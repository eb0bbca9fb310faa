#include "app/gui/views/timeline/draw_timeline.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/marked_span.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/icons.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/timeline/draw_timeline_hand.h"
#include "app/gui/views/timeline/draw_timeline_legend.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"

namespace hbmscope::gui {
namespace {

// What is laid over the timeline, once it is computed.
std::optional<TimelineOverlay> shown_overlay(const AppState& state) {
  auto what = find_overlay(state);
  const auto& columns = state.answers().overlay.value;
  // Not one of an earlier question.
  const AnswerKey& key = state.answers().overlay.key;
  const bool is_of_it = what && columns && key.type != nullptr && key.source == what->source &&
                        columns->heap == what->heap && columns->span.begin >= what->shown.begin + what->shift &&
                        columns->span.end <= what->shown.end + what->shift;
  if (!is_of_it) return std::nullopt;
  return TimelineOverlay{std::move(*what), columns};
}
// The tooltip has the time of day and the full text. If there is no room, the text goes to its own line; side by side
// it is left out, since the head of each side also shows it.
void draw_moment(const AppState& state, const TraceMoment& moment, const TimelineColumns& whole) {
  const HeapKey heap = whole.heap;
  const std::string words = phrase_of(moment, heap, apart_ns(state, whole));
  const float behind = button_width("Copy") + 2 * ImGui::GetFontSize();
  const float least = 5 * ImGui::GetFontSize();
  const float needed = std::min(ImGui::CalcTextSize(words.c_str()).x, least) + behind;
  if (state.is_split() && !has_room_behind(needed, ImGui::GetFontSize())) return;
  flow(needed, ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  dim_text(shortened(words, ImGui::GetContentRegionAvail().x - behind));
  const auto day = moment.stream(heap).clocks().realtime_of(moment.time_ns(heap));
  tooltip(day ? words + "\n" + text_from_realtime(*day) : words);
}

void draw_lanes_button(const AppState& state, TimelineState& view) {
  const auto& devices = state.answers().device_stacks.value;
  const bool are_devices_shown = state.position().all_devices && devices && devices->devices.size() > 1;
  if (are_devices_shown || (view.folds_lanes && view.folded.empty())) return;  // Rows of devices have no lanes.
  flow(button_width("Lanes"));
  const bool is_on = !view.folds_lanes;
  if (is_on) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_Header));
  if (ImGui::Button("Lanes")) view.folds_lanes = !view.folds_lanes;
  if (is_on) ImGui::PopStyleColor();
  tooltip(is_on ? "Folds the lanes that leave too little room for what is in use"
                : "Shows the lanes that are folded: " + view.folded);
}

void draw_head(const AppState& state, const TimelineColumns& timeline, TimelineState& view, CommandQueue& commands) {
  const bool is_narrow = ImGui::GetContentRegionAvail().x < 46 * ImGui::GetFontSize();  // Side by side.
  bool is_first = !draw_heap_chooser(state, *state.source()->trace, timeline.heap, commands);
  const auto button = [&](const std::string& label, CommandId id, const char* words) {
    if (!is_first) flow(button_width(label.c_str()));
    is_first = false;
    if (ImGui::Button(label.c_str())) commands.push(id);
    tooltip(words);
  };
  button(std::string(icon::left) + "###<", CommandId::previous_event, "One event earlier (Left, ,)");
  button(std::string(icon::right) + "###>", CommandId::next_event, "One event later (Right, .)");
  if (!state.source()->live)  // A running job plays by itself; Hold is in the window's head.
    button(std::string(state.context().is_playing ? icon::pause : icon::play) + "###Play", CommandId::play,
           "Plays the trace in real time, in 3 to 10 s for all of it (Space)");
  button("Peak", CommandId::go_to_peak, "The time with the most memory in use (P)");
  if (!timeline.failures.empty()) {
    button((is_narrow ? "[" : std::string(icon::left) + "  Failure") + "###previous failure",
           CommandId::previous_failure, "The previous failure ([)");
    button((is_narrow ? "]" : "Failure  " + std::string(icon::right)) + "###next failure", CommandId::next_failure,
           "The next failure (])");
  }
  button(std::string(icon::pin) + (state.position().pin.empty() ? "  Pin" : "  Unpin") + "###Pin",
         CommandId::pin_moment,
         "Pins this time and colours the heap map by the changes since (B). Press again to unpin.");
  button("End", CommandId::go_to_end, "After the last event (End)");
  draw_lanes_button(state, view);
  if (state.context().is_playing) {
    const double speed = state.context().play_speed;
    const std::string words = "1 s shows " + (timeline.has_times ? text_from_moment_ns(std::llround(speed * 1e9))
                                                                 : text_from_count(std::llround(speed)) + " events");
    flow(ImGui::CalcTextSize(words.c_str()).x);
    text(words);
  }
  const auto moment = drawn_moment(state);
  if (moment) draw_moment(state, *moment, timeline);
  draw_copy_menu(ViewKind::timeline, commands);
}

// Updates the position of the selected range on the axis, once its answer is known.
void follow_range(const TimelineFrame& frame) {
  const TimeRange& range = frame.state.position().range;
  const auto& answer = frame.state.answers().range;
  if (range.empty() || answer.state != AnswerState::ready || answer.value->range != range) return;
  if (range == frame.view.selected.pushed_as && frame.view.selected.trace.lock() == answer.value->trace) return;
  const auto axis_of = [&](const Moment& moment, std::int64_t time_ns) {
    const std::uint64_t position = moment.positions[frame.whole.heap.stream];
    return frame.whole.axis_at(frame.whole.share_of(position, time_ns));
  };
  const std::size_t stream = frame.whole.heap.stream;
  frame.view.selected.begin = axis_of(answer.value->from, answer.value->from_ns[stream]);
  frame.view.selected.end = axis_of(answer.value->to, answer.value->to_ns[stream]);
  frame.view.selected.pushed_as = range;
  frame.view.selected.trace = answer.value->trace;
}

// The band of the legend entry that was chosen in the heap map.
std::optional<Shade> lit_shade(const AppState& state, const StackedBands& bands) {
  const std::string& lit = state.position().lit;
  if (lit.empty()) return std::nullopt;
  for (const Shade shade : bands.order())
    if (bands.name_of(shade) == lit) return shade;
  return std::nullopt;
}

// The other devices of the trace, on the shown axis: their streams have one zero.
std::vector<DeviceLane> device_lanes(const TimelineFrame& frame, DeviceLane& shown) {
  std::vector<DeviceLane> lanes;
  const TimelineSpan seen{std::llround(frame.picture.begin), std::llround(frame.picture.end)};
  for (const DeviceRow& row : device_rows(frame)) {
    const bool is_known = row.bands.update(row.device.course, seen, frame.picture.width);
    lanes.push_back({row.device.name, row.device.peak, is_known ? &row.bands : nullptr});
  }
  if (const DeviceStack* device = find_device(frame.state, frame.whole.heap))
    shown = {device->name, device->peak, nullptr};
  return lanes;
}

// "1.82 s, 9 steps, +441 MiB": the growth once the range's answer is known.
RangeLabel range_label(const TimelineFrame& frame) {
  const SelectedRange& selected = frame.view.selected;
  RangeLabel label{{std::llround(selected.begin), std::llround(selected.end)}, {}};
  const TimeRange& range = frame.state.position().range;
  RangeName& name = frame.view.range_name;
  if (!frame.view.is_selecting && name.of != range)
    name = {range, name_of_marked_range(*frame.state.source()->trace, frame.whole.heap.stream, range)};
  if (name.of == range && !name.words.empty()) label.words = name.words + ": ";
  label.words += length_text(frame.whole.has_times, label.span, shown_steps(frame.state).get());
  const auto& answer = frame.state.answers().range.value;
  if (answer == nullptr || answer->range != selected.pushed_as || !answer->shown) return label;
  const auto in_use = [&](const std::vector<HeapRow>& rows) {
    return static_cast<std::int64_t>(rows[*answer->shown].in_use_bytes);
  };
  label.words +=
      ", " + delta_text_from_bytes(in_use(answer->summary.heaps_after) - in_use(answer->summary.heaps_before));
  if (!frame.picture.devices.empty()) label.words += " on " + name_of_device(frame.state, frame.whole.heap);
  return label;
}

void handle_labels(const TimelineFrame& frame, const std::vector<MarkLabel>& labels) {
  for (const MarkLabel& label : labels) {
    if (!label.position || !ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(label.from, label.to)) continue;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    ImGui::SetTooltip("%s", label.tip.c_str());
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
      frame.commands.push(command::set_moment, frame.moment_at(*label.position));
  }
}

bool has_range(const TimelineFrame& frame) {
  const TimeRange& range = frame.state.position().range;
  return !range.empty() && range == frame.view.selected.pushed_as;
}
StripMarks strip_marks(const TimelineFrame& frame) {
  StripMarks marks{.seen = frame.state.position().span};
  const SelectedRange& selected = frame.view.selected;
  if (has_range(frame)) marks.range = {std::llround(selected.begin), std::llround(selected.end)};
  const auto moment = drawn_moment(frame.state);
  if (moment && moment->trace == frame.state.source()->trace) marks.now = axis_of_moment(*moment, frame.whole);
  return marks;
}

void draw_picture(const TimelineFrame& frame, std::optional<Shade> lit, float scrubber) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const StackedBands* bands = frame.bands();
  const auto blocks = frame.blocks();
  MemoryBands known{bands, blocks.get(), tiers_of(frame)};
  known.lit = lit;
  if (bands != nullptr && !lit) known.lit = lit_shade(frame.state, *bands);
  known.devices = device_lanes(frame, known.shown);
  known.overlay = frame.overlay;
  known.steps = frame.steps;
  draw_lanes(draw, frame.view.lanes, frame.look, frame.picture, known);
  if (blocks) draw_block_names(draw, frame.state, frame.look, frame.picture, *bands, *blocks);
  follow_range(frame);
  const SelectedRange& selected = frame.view.selected;
  const bool is_selected = has_range(frame);
  if (is_selected) draw_selected_range(draw, frame.look, frame.picture, selected.begin, selected.end);
  handle_labels(frame, draw_marks(draw, frame.look, frame.picture, is_selected ? range_label(frame) : RangeLabel()));
  draw_time_axis(draw, frame.state, frame.picture, frame.whole, frame.picture.bottom);
  const auto moment = drawn_moment(frame.state);
  if (!moment || moment->trace != frame.state.source()->trace) return;
  const auto& pinned = frame.state.answers().pinned;
  if (pinned.value && pinned.value->trace == moment->trace)
    draw_pin_line(draw, frame.look, frame.picture, axis_of_moment(*pinned.value, frame.whole), scrubber);
  const double now = axis_of_moment(*moment, frame.whole);
  const auto& address = frame.state.position().address;
  if (blocks && address && now >= frame.picture.begin && now <= frame.picture.end) {
    const int pixel = frame.pixel_of(frame.picture.x_of_axis(now));
    if (const auto chosen = find_block_in(*blocks, pixel, *address))
      draw_block_contour(draw, frame.look, frame.picture, *bands, *blocks, *chosen, Role::selection);
    for (const std::uint64_t further : frame.state.position().also)
      if (const auto found = find_block_in(*blocks, pixel, further))
        draw_block_contour(draw, frame.look, frame.picture, *bands, *blocks, *found, Role::selection);
  }
  draw_bookmark_flags(draw, frame.state, frame.picture, frame.whole, scrubber);
  draw_moment_line(draw, frame.look, frame.picture, now, scrubber);
}

// What the legend has no entry for.
std::string words_behind_legend(const TimelinePicture& picture, bool fits_y, bool has_strip) {
  std::string words;
  if (!picture.devices.empty())
    words = "each row from 0 to " + text_from_bytes(picture.memory.most);
  else if (!picture.source.heap.empty())
    words = words_of_axis(picture, fits_y);
  if (picture.devices_left_out > 0)
    words += fmt::format("; {} more: turn the wheel over their names", picture.devices_left_out);
  if (std::string missing = words_not_drawn(picture, has_strip); !missing.empty()) {
    if (!words.empty()) missing[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(missing[0])));
    words += (words.empty() ? "" : "; ") + missing;
  }
  return words;
}

// What the y axis must have room for besides the shown heap, so that neighbours compare by eye.
std::uint64_t most_beside(const AppState& state, const TimelineOverlay* overlay) {
  std::uint64_t most = overlay != nullptr ? overlay->columns->in_use_most : 0;
  if (state.is_split())
    if (const auto& beside = state.contexts[1 - state.context_index()].answers.timeline.value)
      most = std::max(most, most_on_axis(*beside));
  if (const auto& devices = state.answers().device_stacks.value; devices && state.position().all_devices)
    for (const DeviceStack& device : devices->devices) most = std::max(most, device.peak);
  return most;
}

void add_devices(const AppState& state, const TimelineState& view, HeapKey heap, PictureOptions& options) {
  const auto& known = state.answers().device_stacks.value;
  const bool are_shown = known && state.position().all_devices && known->trace == state.source()->trace;
  if (!are_shown || known->devices.size() < 2) return;
  options.devices = known->devices.size() - 1;
  options.first_device = view.first_device;
  for (std::size_t i = 0; i < known->devices.size(); ++i)
    if (known->devices[i].heap == heap) options.device = i;
}

// By a number of rows.
void scroll_devices(const TimelineFrame& frame, double rows) {
  const double most = static_cast<double>(frame.picture.devices_left_out);
  const double first = static_cast<double>(frame.picture.first_device) + rows;
  frame.view.first_device = static_cast<std::size_t>(std::clamp(std::round(first), 0.0, most));
}

// The bar at the right edge of rows that don't all fit.
void draw_device_scrollbar(const TimelineFrame& frame) {
  const TimelinePicture& picture = frame.picture;
  if (picture.devices_left_out == 0) return;
  const float left = picture.right() + frame.look.px(1), width = frame.look.px(5);
  const double rows = static_cast<double>(picture.devices.size() + 1),
               all = rows + static_cast<double>(picture.devices_left_out);
  const float height = picture.bottom - picture.top;
  const float grip = height * static_cast<float>(rows / all);
  const float top = picture.top + height * static_cast<float>(static_cast<double>(picture.first_device) / all);
  ImGui::SetCursorScreenPos({left, picture.top});
  ImGui::InvisibleButton("rows", {width, height});
  if (ImGui::IsItemActive())
    scroll_devices(frame, static_cast<double>((ImGui::GetMousePos().y - top - grip / 2) / height) * all);
  const bool is_lit = ImGui::IsItemActive() || ImGui::IsItemHovered();
  ImGui::GetWindowDrawList()->AddRectFilled(
      {left, top}, {left + width, top + grip},
      ImGui::GetColorU32(is_lit ? ImGuiCol_ScrollbarGrabActive : ImGuiCol_ScrollbarGrab), width / 2);
}

// The names left of the lanes of devices are buttons, and scroll the rows.
void handle_device_names(const TimelineFrame& frame, float left) {
  const TimelinePicture& picture = frame.picture;
  if (picture.devices.empty() && picture.devices_left_out == 0) return;
  for (const DeviceRow& row : device_rows(frame)) {
    ImGui::SetCursorScreenPos({left, row.lane.from.y});
    const std::string id = fmt::format("device {}.{}", row.device.heap.stream, row.device.heap.heap);
    if (ImGui::InvisibleButton(id.c_str(), {row.lane.from.x - left, row.lane.height()}))
      frame.commands.push(command::choose_row, row.device.heap);
    tooltip("Shows " + row.device.name + " in all views");
  }
  draw_device_scrollbar(frame);
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({left, picture.top}, {picture.left, picture.bottom}))
    scroll_devices(frame, -static_cast<double>(ImGui::GetIO().MouseWheel));
}

}  // namespace

void draw_timeline(const AppState& state, TimelineState& view, CommandQueue& commands) {
  if (!state.position().range.empty()) commands.ask(Question::range);  // To get its position.
  if (!draw_answer_state(state, state.answers().timeline, "the timeline"))
    return draw_no_heap(state, state.answers().timeline.state);
  const auto whole = state.answers().timeline.value, part = state.answers().timeline_part.value;
  const Look look(state);
  draw_head(state, *whole, view, commands);

  ImGui::BeginChild("time", {0, 0}, 0,
                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoNavInputs);
  ImVec2 corner = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gutter = gutter_of_lanes(look), scrubber = look.px(10);
  // In a low view the lanes come first: the legend and the labels have no line of their own then, nor are there an
  // axis and an overview of the whole trace.
  const float least = look.px(24), caption_line = ImGui::GetTextLineHeight() + look.px(2);
  const float axis_line = ImGui::GetTextLineHeight() + look.px(8);
  const float axis = room.y - scrubber - least > axis_line ? axis_line : 0;
  const float free = room.y - axis - scrubber - least;
  const float labels = label_height(look) - scrubber;
  const bool has_labels = free > labels;
  const bool has_legend = free > labels + caption_line;
  const ImVec2 legend{corner.x + gutter, corner.y};
  if (has_legend) {
    corner.y += caption_line;
    room.y -= caption_line;
  }
  const bool has_strip = room.y > look.px(130);
  const float strip = has_strip ? look.px(room.y > look.px(280) ? 24 : 16) : 0;
  const ImVec2 from{std::floor(corner.x + gutter), std::floor(corner.y + scrubber + (has_labels ? labels : 0))};
  const ImVec2 to{std::floor(corner.x + room.x - look.px(6)),
                  std::floor(corner.y + room.y - axis - strip - (has_strip ? look.px(3) : 0))};
  if (to.x - from.x < 16 || to.y - from.y < least) return ImGui::EndChild();
  const auto overlay = shown_overlay(state);
  const auto steps = state.answers().steps.value;
  PictureOptions options{state.position().span, view.fits_y, view.y_range};
  options.has_thin_lanes = !view.folds_lanes;
  options.most_beside = most_beside(state, overlay ? &*overlay : nullptr);
  add_devices(state, view, whole->heap, options);
  options.has_steps =
      steps && steps->trace == state.source()->trace && steps->heap == whole->heap && steps->leaves_something;
  const int width = static_cast<int>(to.x - from.x);
  TimelinePicture picture = make_picture(*whole, part.get(), options, from, to, look);
  picture.has_labels = has_labels;
  if (!picture.devices.empty()) picture.device = name_of_device(state, whole->heap);
  view.folded = picture.folded;
  // The whole peak would have this height at the scale of the y axis.
  constexpr double zoom_most = 1000;
  const double zoom = static_cast<double>(most_on_axis(*whole)) / (picture.memory.most - picture.memory.least);
  const int height = static_cast<int>(picture.memory.height() * std::clamp(zoom, 1.0, zoom_most));
  if (state.context().timeline_width != static_cast<std::size_t>(width) ||
      state.context().timeline_height != static_cast<std::size_t>(std::max(0, height)))
    commands.push(command::size_timeline, {width, height});

  const TimelineSpan seen = state.position().span.empty() ? whole->whole : state.position().span;
  const bool has_bands = view.bands.update(shown_stack(state, whole->heap, seen), seen, width);
  const TimelineFrame frame{state,
                            view,
                            commands,
                            look,
                            *whole,
                            picture,
                            overlay ? &*overlay : nullptr,
                            options.has_steps ? steps.get() : nullptr,
                            has_bands};
  std::optional<Shade> lit;
  if (has_legend) {
    ImGui::SetCursorScreenPos(legend);
    lit = draw_timeline_legend(state, look, picture, frame.bands(), frame.overlay,
                               words_behind_legend(picture, view.fits_y && !overlay, has_strip), commands);
  }
  ImGui::SetCursorScreenPos({from.x, from.y - scrubber});
  ImGui::InvisibleButton("scrubber", {static_cast<float>(width), scrubber});
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  handle_scrubber(frame, ImGui::IsItemActive());
  draw_picture(frame, lit, scrubber);
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton(
      "columns", {static_cast<float>(width), to.y - from.y},
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  // The arrows are for the picture under the pointer, whatever has the focus.
  for (const ImGuiKey key : {ImGuiKey_LeftArrow, ImGuiKey_RightArrow}) ImGui::SetItemKeyOwner(key);
  const bool is_under_pointer = ImGui::IsItemHovered(ImGuiHoveredFlags_NoNavOverride);
  handle_lanes(frame, is_under_pointer, ImGui::IsItemActive());
  handle_device_names(frame, corner.x);
  if (has_strip) {
    const ImVec2 strip_from{from.x, std::floor(corner.y + room.y - strip)}, strip_to{to.x, corner.y + room.y - 1};
    ImGui::SetCursorScreenPos(strip_from);
    ImGui::InvisibleButton("strip", {static_cast<float>(width), strip_to.y - strip_from.y});
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    handle_strip(frame, ImGui::IsItemActive(), ImGui::IsItemHovered(ImGuiHoveredFlags_NoNavOverride));
    draw_strip(*ImGui::GetWindowDrawList(), view.overview, look, *whole, strip_marks(frame), strip_from, strip_to);
  }
  handle_keys(frame, is_under_pointer);
  ImGui::EndChild();
  if (take_copy(state, ViewKind::timeline, view.copy_seen))
    copy_table(state, table_from_timeline(picture.source), commands);
}

std::unique_ptr<DrawnView> make_timeline() {
  return make_view(draw_timeline);
}

}  // namespace hbmscope::gui
