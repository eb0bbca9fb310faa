#include "app/gui/views/timeline/draw_timeline_hand.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_actions.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/block_menu.h"
#include "app/gui/look/drawing.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"
#include "app/gui/views/timeline/draw_timeline_tooltips.h"

namespace hbmscope::gui {
namespace {

// A TPU's defragmentation moves blocks, so that one may have had another address. Its programs are short; longer traces
// are those of GPUs, which move nothing.
LiveBlock block_at_time(const TimelineFrame& frame, const LiveBlock& block, std::uint64_t position) {
  constexpr std::uint64_t events_max = 1'000'000;
  const Stream& stream = frame.state.source()->trace->streams[frame.whole.heap.stream];
  if (block.event == wire::before_the_stream || stream.end_position() > events_max) return block;
  const StreamState state = stream.state_at(position);
  for (const LiveBlock& one : state.slots())
    if (one.event == block.event && one.heap == block.heap) return one;
  return block;
}

// Selects the block at the time of the column, in which it lives.
void select_block(const TimelineFrame& frame, const StackBlocks& blocks, std::uint32_t index, int pixel) {
  const std::uint64_t position = frame.view.bands.pixels()[static_cast<std::size_t>(pixel)].position;
  const LiveBlock block = block_at_time(frame, blocks.blocks()[index], position);
  // Another block of the shown time.
  if (ImGui::GetIO().KeyCtrl && block.has_address())
    return frame.commands.push(command::select_also, {block.address, {}, frame.whole.heap});
  frame.commands.push(command::set_moment, frame.clicked(position, pixel));
  if (block.has_address())
    frame.commands.push(command::select_address,
                        actions_of(*frame.state.source()->trace, frame.whole.heap, block).place);
}

void set_moment(const TimelineFrame& frame, const MomentName& at) {
  if (frame.view.is_scrubbing && frame.view.pushed == at) return;
  frame.commands.push(frame.view.is_scrubbing ? command::move_moment : command::set_moment, at);
  frame.view.pushed = at;
}

// A click goes to a marker within a few pixels, otherwise to the highest bytes in use of the column; with Alt, to the
// column's last event.
std::uint64_t clicked_position(const TimelineFrame& frame, float x) {
  const TimelineColumn& column = frame.picture.pixels[static_cast<std::size_t>(frame.pixel_of(x))];
  if (ImGui::GetIO().KeyAlt) return column.position;
  if (const auto target = find_snap_target(frame.picture, frame.look, x)) return target->position;
  return column.most_position;
}

void select_range(const TimelineFrame& frame, float x) {
  TimelineState& view = frame.view;
  const float pressed = frame.picture.x_of_axis(view.pressed_at);
  const int first = frame.pixel_of(std::min(pressed, x)), last = frame.pixel_of(std::max(pressed, x));
  view.selected.begin = frame.picture.axis_of(frame.picture.left + static_cast<float>(first));
  view.selected.end = frame.picture.axis_of(frame.picture.left + static_cast<float>(last + 1));
  const std::uint64_t from = frame.picture.position_before(first);
  const TimeRange range{frame.moment_at(from, view.selected.begin),
                        frame.moment_at(std::max(from, frame.picture.position_after(last)), view.selected.end)};
  view.selected.pushed_as = range;
  view.selected.trace = frame.state.source()->trace;
  if (view.is_selecting && view.pushed_range == range) return;
  frame.commands.push(view.is_selecting ? command::move_range : command::set_range, range);
  view.is_selecting = true;
  view.pushed_range = range;
}

// The other end of the selected range, if an edge of it is under the pointer: a drag from there moves that edge.
std::optional<double> find_fixed_edge(const TimelineFrame& frame, float x) {
  const TimeRange& range = frame.state.position().range;
  const SelectedRange& selected = frame.view.selected;
  if (range.empty() || range != selected.pushed_as) return {};
  const float reach = frame.look.px(4), begin = frame.picture.x_of_axis(selected.begin),
              end = frame.picture.x_of_axis(selected.end);
  // In the pixel that it bounds.
  if (std::abs(end - x) <= reach) return frame.picture.axis_of(begin + 0.5F);
  if (std::abs(begin - x) <= reach) return frame.picture.axis_of(end - 0.5F);
  return {};
}

// The step whose bar is under the pointer, as a range.
void select_step(const TimelineFrame& frame, float x) {
  const float left = frame.picture.left + static_cast<float>(frame.pixel_of(x));
  const auto step = frame.steps->find_largest_growth(frame.picture.axis_of(left), frame.picture.axis_of(left + 1));
  if (!step) return;
  const std::vector<TraceStep>& steps = frame.steps->steps;
  const TimelineSpan span = frame.steps->span_of(*step);
  const TimeRange range{frame.moment_at(steps[*step].event, static_cast<double>(span.begin)),
                        frame.moment_at(steps[*step + 1].event, static_cast<double>(span.end))};
  TimelineState& view = frame.view;
  view.selected = {static_cast<double>(span.begin), static_cast<double>(span.end), range, frame.state.source()->trace};
  frame.commands.push(command::set_range, range);
}

void select_range_marker(const TimelineFrame& frame, const TimelineMarker& marker) {
  const double begin = frame.picture.source.axis_at(marker.begin);
  const double end = std::min(frame.picture.source.axis_at(marker.end), static_cast<double>(frame.whole.whole.end));
  const TimeRange range{frame.moment_at(marker.position, begin), frame.moment_at(marker.end_position, end)};
  frame.view.selected = {begin, end, range, frame.state.source()->trace};
  frame.commands.push(command::set_range, range);
}

// Around the figure under the pointer. Back at the whole axis, it follows the data again.
void zoom_y(const TimelineFrame& frame, double factor) {
  constexpr double least_range = 4096;
  const float y = ImGui::GetIO().MousePos.y;
  const auto row = device_under(frame, y);
  const Lane& lane = row ? row->lane : frame.picture.memory;
  if (!lane.holds(y)) return;
  const double at = lane.value_at(y);
  // Rows of devices keep their foot: others would be empty.
  ByteRange range{std::max(0.0, at - (at - lane.least) / factor), at + (lane.most - at) / factor};
  if (!frame.picture.devices.empty()) range = {0, lane.most / factor};
  if (range.most - range.least < least_range) return;
  std::uint64_t most = frame.picture.devices.empty() ? most_on_axis(frame.whole) : frame.whole.in_use_most;
  for (const DeviceRow& one : device_rows(frame)) most = std::max(most, one.device.peak);
  const bool is_whole = range.least == 0 && range.most >= static_cast<double>(most);
  frame.view.y_range = is_whole ? std::nullopt : std::optional(range);
}

// `at`: the pointer's position on the axis.
void handle_wheel(const TimelineFrame& frame, double at) {
  const ImGuiIO& io = ImGui::GetIO();
  const double length = frame.picture.end - frame.picture.begin;
  if (io.KeyCtrl && io.KeyShift)
    return zoom_y(frame, std::pow(1.25, static_cast<double>(io.MouseWheel + io.MouseWheelH)));
  const float sideways = io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0);
  if (sideways != 0) {
    frame.pan(-static_cast<double>(sideways) * length / 8);
  } else if (io.MouseWheel != 0) {
    frame.zoom(std::pow(io.KeyCtrl ? 4.0 : 1.25, static_cast<double>(io.MouseWheel)), at);
  }
}

// The context menu: of a block, of a time, of another kind of memory.
void open_menu(const TimelineFrame& frame, float x) {
  TimelineState& view = frame.view;
  const float y = ImGui::GetIO().MousePos.y;
  view.menu.at = frame.picture.axis_of(x);
  view.menu.position = clicked_position(frame, x);
  view.menu.block.reset();
  if (const auto block = frame.block_under({x, y})) view.menu.block = frame.blocks()->blocks()[*block];
  view.menu.heap.reset();
  for (std::size_t i = 0; i < frame.picture.heaps.size(); ++i)
    if (frame.picture.heaps[i].holds(y)) view.menu.heap = static_cast<std::uint32_t>(i);
  ImGui::OpenPopup("timeline menu");
}
void draw_menu(const TimelineFrame& frame) {
  if (!ImGui::BeginPopup("timeline menu")) return;
  TimelineState& view = frame.view;
  const MomentName at = frame.moment_at(view.menu.position);
  if (view.menu.block && view.menu.block->has_address()) {
    draw_block_menu(actions_of(*frame.state.source()->trace, frame.whole.heap, *view.menu.block), frame.commands);
    ImGui::Separator();
  }
  if (ImGui::MenuItem("Go to this time")) frame.commands.push(command::set_moment, at);
  if (ImGui::MenuItem("Pin this time")) frame.commands.push(command::set_pin, at);
  const double length = frame.picture.end - frame.picture.begin;
  if (ImGui::MenuItem("Zoom in here")) frame.show(view.menu.at - length / 16, view.menu.at + length / 16);
  if (!frame.state.position().range.empty() && ImGui::MenuItem("Zoom to the range", "double click"))
    frame.show(view.selected.begin, view.selected.end);
  const bool is_whole = frame.state.position().span.empty();
  if (ImGui::MenuItem("Show the whole trace", "0", false, !is_whole))
    frame.show(0, static_cast<double>(frame.whole.whole.end));
  if (frame.whole.knows_regions) ImGui::MenuItem("Fold the lanes", nullptr, &view.folds_lanes);
  if (ImGui::MenuItem("Compare with the previous step", "O", frame.state.position().overlays_step,
                      current_step(frame.state).has_value()))
    frame.commands.push(CommandId::overlay_step);
  if (!frame.whole.stretches.empty()) {
    if (ImGui::MenuItem("Next span", "J")) frame.commands.push(CommandId::next_span);
    if (ImGui::MenuItem("Previous span", "Shift+J")) frame.commands.push(CommandId::previous_span);
    if (ImGui::MenuItem("Table of spans")) frame.commands.push(CommandId::show_spans);
  }
  if (view.menu.heap && *view.menu.heap < frame.picture.source.heaps.size()) {
    const TimelineHeap& heap = frame.picture.source.heaps[*view.menu.heap];
    if (ImGui::MenuItem(("Show " + heap.name + " in all views").c_str()))
      frame.commands.push(command::choose_heap, {frame.whole.heap.stream, heap.heap});
  }
  ImGui::EndPopup();
}

}  // namespace

const DeviceStack* find_device(const AppState& state, HeapKey heap) {
  const auto& known = state.answers().device_stacks.value;
  if (known == nullptr) return nullptr;
  const auto found = std::find_if(known->devices.begin(), known->devices.end(),
                                  [&](const DeviceStack& one) { return one.heap == heap; });
  return found == known->devices.end() ? nullptr : &*found;
}

std::string name_of_device(const AppState& state, HeapKey heap) {
  const DeviceStack* device = find_device(state, heap);
  return device == nullptr ? std::string() : device->name;
}

std::vector<DeviceRow> device_rows(const TimelineFrame& frame) {
  std::vector<DeviceRow> rows;
  const auto& known = frame.state.answers().device_stacks.value;
  if (frame.picture.devices.empty() || !known || known->trace != frame.state.source()->trace) return rows;
  frame.view.devices.resize(known->devices.size());
  for (std::size_t i = 0; i < frame.picture.devices.size(); ++i)
    if (const std::size_t number = frame.picture.device_numbers[i]; number < known->devices.size())
      rows.push_back({known->devices[number], frame.picture.devices[i], frame.view.devices[number]});
  return rows;
}

std::optional<DeviceRow> device_under(const TimelineFrame& frame, float y) {
  for (const DeviceRow& row : device_rows(frame))
    if (row.lane.holds(y)) return row;
  return std::nullopt;
}

std::vector<const StackedBands*> tiers_of(const TimelineFrame& frame) {
  const auto& known = frame.state.answers().tier_stacks.value;
  std::vector<const StackedBands*> tiers;
  if (!frame.has_bands || !known) return tiers;
  const auto& heaps = frame.picture.source.heaps;
  frame.view.tiers.resize(heaps.size());
  for (std::size_t i = 0; i < heaps.size() && heaps[i].is_other_kind; ++i) {
    const auto course = known->find(heaps[i].heap);
    const bool is_alike = course && course->query().colors == frame.view.bands.course().query().colors &&
                          course->query().coloring == frame.view.bands.course().query().coloring;
    const bool is_known = is_alike && frame.view.tiers[i].update(course, frame.view.bands.seen(), frame.picture.width);
    tiers.push_back(is_known ? &frame.view.tiers[i] : nullptr);
  }
  return tiers;
}

void handle_lanes(const TimelineFrame& frame, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineState& view = frame.view;
  const float x = std::clamp(io.MousePos.x, frame.picture.left, frame.picture.right() - 1);
  if (hovered) handle_wheel(frame, frame.picture.axis_of(x));
  if (active &&
      (ImGui::IsMouseDragging(ImGuiMouseButton_Right, 4) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 4)))
    frame.pan(-static_cast<double>(io.MouseDelta.x) / frame.picture.width * (frame.picture.end - frame.picture.begin));
  if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Right) && io.MouseDragMaxDistanceSqr[1] <= 16)
    open_menu(frame, x);
  draw_menu(frame);
  const auto fixed_edge = hovered ? find_fixed_edge(frame, x) : std::nullopt;
  if (fixed_edge && !active) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left))
    view.pressed_at = fixed_edge.value_or(frame.picture.axis_of(x));
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) select_range(frame, x);
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    const bool in_range = !frame.state.position().range.empty() && view.pressed_at >= view.selected.begin &&
                          view.pressed_at <= view.selected.end;
    in_range ? frame.show(view.selected.begin, view.selected.end)
             : frame.show(0, static_cast<double>(frame.whole.whole.end));
  } else if (hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] <= 16 &&
             io.MouseClickedLastCount[0] == 1) {
    if (frame.steps != nullptr && frame.picture.growth && frame.picture.growth->holds(io.MousePos.y) && !io.KeyAlt)
      return select_step(frame, x);
    if (const TimelineMarker* one = find_range_marker(frame.picture, frame.look, {x, io.MousePos.y}); one && !io.KeyAlt)
      return select_range_marker(frame, *one);
    if (const auto row = device_under(frame, io.MousePos.y))
      return frame.commands.push(command::choose_row, row->device.heap);
    const auto blocks = frame.blocks();
    const auto block = io.KeyAlt ? std::nullopt : frame.block_under({x, io.MousePos.y});
    const bool is_at_target = !io.KeyAlt && find_snap_target(frame.picture, frame.look, x).has_value();
    if (block && !is_at_target)
      select_block(frame, *blocks, *block, frame.pixel_of(x));
    else
      set_moment(frame, frame.clicked(clicked_position(frame, x), frame.pixel_of(x)));
  }
  if (!active) view.is_selecting = false;
  if (!hovered || active) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto block = frame.block_under({x, io.MousePos.y});
  const bool has_tooltip = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip);
  if (block && !find_snap_target(frame.picture, frame.look, x)) {
    const auto blocks = frame.blocks();
    draw_block_contour(draw, frame.look, frame.picture, frame.view.bands, *blocks, *block, Role::text);
    if (has_tooltip) draw_block_tooltip(frame, *blocks, *block, x);
    return;
  }
  const float middle = std::floor(x) + 0.5F;
  draw.AddLine({middle, frame.picture.top}, {middle, frame.picture.bottom}, frame.look.role(Role::text, 0.4F));
  if (has_tooltip) draw_column_tooltip(frame, x);
}

void handle_scrubber(const TimelineFrame& frame, bool active) {
  if (!active) {
    frame.view.is_scrubbing = false;
    return;
  }
  const float x = std::clamp(ImGui::GetMousePos().x, frame.picture.left, frame.picture.right() - 1);
  const auto target = ImGui::GetIO().KeyAlt ? std::nullopt : find_snap_target(frame.picture, frame.look, x);
  set_moment(frame, frame.moment_at(target ? target->position : frame.picture.position_after(frame.pixel_of(x))));
  frame.view.is_scrubbing = true;
}

void handle_strip(const TimelineFrame& frame, bool active, bool hovered) {
  using Drag = TimelineState::StripDrag;
  TimelineState& view = frame.view;
  const ImGuiIO& io = ImGui::GetIO();
  const float width = static_cast<float>(frame.picture.width), x = io.MousePos.x - frame.picture.left;
  const double at = frame.whole.axis_at(std::clamp(static_cast<double>(x / width), 0.0, 1.0));
  const double begin = frame.picture.begin, end = frame.picture.end;
  const auto x_of = [&](double axis) { return static_cast<float>(frame.whole.share_of_axis(axis)) * width; };
  const float to_begin = std::abs(x - x_of(begin)), to_end = std::abs(x - x_of(end));
  const bool is_part = end - begin < static_cast<double>(frame.whole.whole.length());
  const bool is_at_edge = is_part && std::min(to_begin, to_end) <= frame.look.px(4);
  if (hovered) {
    handle_wheel(frame, std::clamp(at, begin, end));
    if (is_at_edge && !active) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (!active && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) draw_strip_tooltip(frame, at);
  }
  if (ImGui::IsItemActivated()) {
    const bool holds = is_part && at >= begin && at <= end;
    view.strip_drag = is_at_edge ? Drag::edge : holds ? Drag::part : Drag::drawn;
    view.grip = is_at_edge ? (to_begin < to_end ? end : begin) : holds ? at - begin : at;
  }
  if (view.strip_drag == Drag::part) {
    if (active) frame.pan(at - view.grip - begin);
  } else if (active) {
    if (view.strip_drag == Drag::edge || io.MouseDragMaxDistanceSqr[0] > 16)
      frame.show(std::min(at, view.grip), std::max(at, view.grip));
  } else if (ImGui::IsItemDeactivated() && view.strip_drag == Drag::drawn && io.MouseDragMaxDistanceSqr[0] <= 16) {
    frame.pan(at - (begin + end) / 2);  // A click beside the visible part centres it there.
  }
}

void handle_keys(const TimelineFrame& frame, bool has_pointer) {
  if (frame.view.zoom_seen != frame.state.window.zoom_serial) {  // The key 0 shows everything.
    frame.view.zoom_seen = frame.state.window.zoom_serial;
    frame.view.y_range.reset();
    frame.view.fits_y = false;
    if (has_pointer || frame.state.is_in_front(ViewKind::timeline))
      frame.show(0, static_cast<double>(frame.whole.whole.end));
  }
  if (!takes_letters()) return;
  const double middle = (frame.picture.begin + frame.picture.end) / 2, length = frame.picture.end - frame.picture.begin;
  const bool has_focus = ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows);
  if (has_focus || has_pointer) {
    if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow)) frame.commands.push(CommandId::previous_event);
    if (ImGui::IsKeyPressed(ImGuiKey_RightArrow)) frame.commands.push(CommandId::next_event);
  }
  if (has_focus) {
    if (ImGui::IsKeyPressed(ImGuiKey_Home)) frame.show(0, static_cast<double>(frame.whole.whole.end));
  }
  if (ImGui::IsKeyPressed(ImGuiKey_W)) frame.zoom(1.25, middle);
  if (ImGui::IsKeyPressed(ImGuiKey_S)) frame.zoom(0.8, middle);
  if (ImGui::IsKeyPressed(ImGuiKey_A)) frame.pan(-length / 8);
  if (ImGui::IsKeyPressed(ImGuiKey_D)) frame.pan(length / 8);
  if (ImGui::IsKeyPressed(ImGuiKey_Y)) {
    if (!frame.view.y_range) frame.view.fits_y = !frame.view.fits_y;
    frame.view.y_range.reset();
  }
}

}  // namespace hbmscope::gui
