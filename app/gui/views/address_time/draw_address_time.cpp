#include "app/gui/views/address_time/draw_address_time.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "analysis/query/block_list.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/trace_tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/map_legend.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/timeline/draw_timeline_lanes.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"

namespace hbmscope::gui {
namespace {

struct DrawnBoxes {
  const AppState& state;
  const Look& look;
  CommandQueue& commands;
  const AddressTime& boxes;
  const TimelineColumns& whole;
  const TimelinePicture& picture;

  float top() const { return picture.top; }
  float height() const { return picture.bottom - picture.top; }
  // In rows of the texture, which may still have another size or span.
  double row_of(float y) const {
    return static_cast<double>(y - top()) / static_cast<double>(picture.bottom - top()) * boxes.query.height;
  }
  float y_of(double row) const {
    return top() + static_cast<float>(row / boxes.query.height) * (picture.bottom - top());
  }
  int pixel_of(float x) const {
    return static_cast<int>(std::clamp(std::floor(x - picture.left), 0.0F, static_cast<float>(picture.width - 1)));
  }
  void show_all() const {
    show_span(state, whole, 0, static_cast<double>(whole.whole.end), commands);
    show_addresses({});
  }
  void pan(double by) const { pan_span(state, picture, whole, by, commands); }
  AddressRange seen() const { return state.position().addresses; }
  void show_addresses(AddressRange range) const {
    if (range == seen()) return;
    commands.push(command::show_addresses, range);
  }
  // `share`: of the height, from the top.
  void zoom_addresses(double factor, double share) const {
    show_addresses(gui::zoom_addresses(boxes, seen(), factor, share));
  }
  void pan_addresses(double share) const { show_addresses(gui::pan_addresses(boxes, seen(), share)); }
};

std::string scale_text(const AddressTime& boxes) {
  const double length = static_cast<double>(boxes.query.span.length()) / std::max(1, boxes.query.width);
  const std::string time = boxes.has_times ? text_from_duration_ns(std::llround(length))
                           : length < 0.5  ? "less than 1 event"
                                           : text_from_count(std::llround(length)) + " events";
  return text_from_count(static_cast<std::int64_t>(boxes.boxes)) +
         " blocks, 1 px = " + text_from_bytes(boxes.axis.bytes_per_px()) + " x " + time;
}

// Explains why the boxes have other colours than the heap map.
std::string coloring_text(const AppState& state, const AddressTime& boxes) {
  const HeapColoring wanted = state.position().coloring;
  if (wanted == HeapColoring::automatic || wanted == boxes.query.coloring) return {};
  return "by " + lower_title_of(boxes.query.coloring) + ", since " + lower_title_of(wanted) + " " +
         std::string(row_of(wanted).why_not_of_a_box) + "; ";
}

void draw_head(const AppState& state, const TimelineColumns& whole, const AddressTime* boxes, CommandQueue& commands) {
  draw_heap_chooser(state, *state.source()->trace, whole.heap, commands);
  if (boxes != nullptr)
    draw_rest_of_line(
        coloring_text(state, *boxes) + scale_text(*boxes) + "   (wheel zooms the time, Ctrl+wheel the addresses)",
        button_width("Copy"));
  draw_copy_menu(ViewKind::address_time, commands);
}

// "[][][][] 25 to 100 % in use, bytes are averages": the meaning of a colour's strength.
struct ShareLegend {
  static constexpr std::string_view words = "25 to 100 % in use; bytes are averages";
  const Look& look;

  float side() const { return look.px(12); }
  float width() const {
    return 4 * side() + look.px(5) + ImGui::CalcTextSize(words.data(), words.data() + words.size()).x + look.px(14);
  }
  void draw(bool is_right) const {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    if (is_right) ImGui::SetCursorScreenPos({right - width() + look.px(14), ImGui::GetCursorScreenPos().y});
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float top = at.y + (ImGui::GetTextLineHeight() - side()) / 2;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (int quarters = 1; quarters <= 4; ++quarters) {
      const ImVec2 from{at.x + static_cast<float>(quarters - 1) * side(), top}, to{from.x + side(), top + side()};
      list.AddRectFilled(from, to, look.role(Role::free));
      list.AddRectFilled(from, to, look.role(Role::several, static_cast<float>(quarters) / 4));
    }
    ImGui::SetCursorScreenPos({at.x + 4 * side() + look.px(5), at.y});
    dim_text(words);
    tooltip(
        "A pixel has the colour of most bytes in it. The more of it is in use, the stronger the colour, in four "
        "steps.");
  }
};

void draw_legend(const Look& look, const AddressTime& boxes) {
  const ShareLegend shares{look};
  // It leaves room for two or three entries, or takes its own line.
  const bool has_room = ImGui::GetContentRegionAvail().x > shares.width() + look.px(400);
  draw_map_legend(look, boxes.knows_regions, boxes.query.coloring, boxes.legend, {}, has_room ? shares.width() : 0);
  if (has_room) ImGui::SameLine();
  shares.draw(has_room);
}

// The origin of offsets: the heap's lowest address at the current time, as in the heap map and the Inspector; if the
// heap is empty then, the lowest address of the picture.
std::uint64_t lowest_of(const DrawnBoxes& frame) {
  const auto& moment = frame.state.answers().moment.value;
  const HeapKey heap = frame.whole.heap;
  if (moment != nullptr && frame.state.source()->is_source_of(*moment))
    if (const auto lowest = lowest_address(moment->state_of(heap), heap.heap)) return *lowest;
  return frame.boxes.whole.regions().empty() ? 0 : frame.boxes.whole.regions().front().begin;
}

std::string offset_text(std::uint64_t lowest, std::uint64_t address) {
  if (address < lowest) return "\u2212" + text_from_bytes(static_cast<std::int64_t>(lowest - address));
  return "+" + text_from_bytes(static_cast<std::int64_t>(address - lowest));
}

// Gaps between regions have no height, but count in the offsets.
void draw_offsets(const DrawnBoxes& frame, float left) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const AddressAxis& axis = frame.boxes.axis;
  if (axis.regions().empty()) return;
  const std::uint64_t lowest = lowest_of(frame);
  const float line = ImGui::GetTextLineHeight(), height = frame.picture.bottom - frame.top();
  const int labels = std::max(1, static_cast<int>(height / (line * 3)));
  for (int i = 0; i <= labels; ++i) {
    const float y = static_cast<float>(i) / static_cast<float>(labels) * height;
    const std::string words = offset_text(lowest, axis.nearest_address(frame.row_of(frame.top() + y)));
    const float x = frame.picture.left - frame.look.px(6) - ImGui::CalcTextSize(words.c_str()).x;
    draw.AddText({std::max(left, x), std::min(frame.top() + y, frame.picture.bottom - line)},
                 frame.look.role(Role::dim_text), words.c_str());
  }
}

// Failures, as high as the request, from the bottom up: no free gap next to it is as high.
void draw_failures(const DrawnBoxes& frame) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 ink = frame.look.role(Role::failure);
  const std::vector<FailureColumn> columns = failure_columns(frame.picture, frame.whole.failures);
  const bool is_crowded = columns.size() > failure_lines_max;
  for (const FailureColumn& column : columns) {
    const float x = column.x + 0.5F;
    const double rows = static_cast<double>(column.bytes) / frame.boxes.axis.bytes_per_px();
    const float top = std::max(frame.top(), frame.y_of(frame.boxes.query.height - rows));
    if (is_crowded) {
      draw.AddLine({x, top}, {x, frame.picture.bottom}, frame.look.role(Role::failure, 0.6F));
      continue;
    }
    draw.AddLine({x, frame.top()}, {x, frame.picture.bottom}, frame.look.role(Role::failure, 0.45F));
    draw.AddRect({x - 3, top}, {x + 3, frame.picture.bottom}, ink, 0.0F, 2.0F);
  }
}

void draw_tooltip(const DrawnBoxes& frame, float x, float y) {
  const AddressTime& boxes = frame.boxes;
  const auto address = boxes.axis.address_at(frame.row_of(y));
  const double axis = frame.picture.axis_of(x), left = boxes.left_of(axis);
  ImGui::BeginTooltip();
  bold_text(frame.whole.text_at(frame.whole.share_of_axis(axis)) +
            (address ? ", " + offset_text(lowest_of(frame), *address) + ", " + address_text(*address)
                     : ", between two regions"));
  const auto column = static_cast<std::int64_t>(std::floor(left)), row = static_cast<std::int64_t>(frame.row_of(y));
  if (address && column >= 0 && column < boxes.query.width && row >= 0 && row < boxes.query.height) {
    const BoxCell& cell = boxes.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(boxes.query.width) +
                                      static_cast<std::size_t>(column)];
    if (cell.quarters == 0) {
      text(cell.has_memory ? "free" : boxes.knows_regions ? "no memory there" : "unknown");
    } else {
      const auto shade = std::find_if(boxes.legend.begin(), boxes.legend.end(),
                                      [&](const ShadeEntry& one) { return one.shade == cell.shade; });
      text(std::string(cell.quarters == 4   ? "in use"
                       : cell.quarters == 3 ? "about three quarters in use"
                       : cell.quarters == 2 ? "about half in use"
                                            : "a quarter in use, or less") +
           (shade == boxes.legend.end() ? "" : ", most of it " + shade->name));
    }
  }
  ImGui::EndTooltip();
}

void handle_pointer(const DrawnBoxes& frame, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const float x = std::clamp(io.MousePos.x, frame.picture.left, frame.picture.right() - 1), y = io.MousePos.y;
  const double begin = frame.picture.begin, end = frame.picture.end;
  if (hovered && io.MouseWheel != 0 && io.KeyShift) {
    frame.pan(-static_cast<double>(io.MouseWheel) * (end - begin) / 8);
  } else if (hovered && io.MouseWheel != 0 && io.KeyCtrl) {
    frame.zoom_addresses(std::pow(1.25, static_cast<double>(io.MouseWheel)), (y - frame.top()) / frame.height());
  } else if (hovered && io.MouseWheel != 0) {
    const double factor = std::pow(1.25, static_cast<double>(io.MouseWheel));
    zoom_span(frame.state, frame.picture, frame.whole, factor, frame.picture.axis_of(x), frame.commands);
  }
  if (active &&
      (ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 4))) {
    frame.pan(-static_cast<double>(io.MouseDelta.x) / frame.picture.width * (end - begin));
    if (io.MouseDelta.y != 0 && !frame.seen().empty()) frame.pan_addresses(-io.MouseDelta.y / frame.height());
  }
  if (!hovered) return;
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) return frame.show_all();
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] <= 16 &&
      io.MouseClickedLastCount[0] == 1) {
    const int pixel = frame.pixel_of(x);
    frame.commands.push(command::set_moment, clicked_moment(frame.state, frame.picture, frame.whole,
                                                            frame.picture.position_after(pixel), pixel));
    if (const auto address = frame.boxes.axis.address_at(frame.row_of(y)))
      frame.commands.push(command::select_address, {*address});
  }
  if (!active && ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) draw_tooltip(frame, x, y);
}

// The keys of the heap map, along the addresses.
void zoom_with_keys(const DrawnBoxes& frame) {
  if (!takes_letters()) return;
  if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) && ImGui::IsKeyPressed(ImGuiKey_Home)) frame.show_all();
  if (ImGui::IsKeyPressed(ImGuiKey_W)) frame.zoom_addresses(1.25, 0.5);
  if (ImGui::IsKeyPressed(ImGuiKey_S)) frame.zoom_addresses(0.8, 0.5);
  if (frame.seen().empty()) return;
  if (ImGui::IsKeyPressed(ImGuiKey_A)) frame.pan_addresses(-0.125);
  if (ImGui::IsKeyPressed(ImGuiKey_D)) frame.pan_addresses(0.125);
}

// The box of the selected block: its addresses, from its allocation to its release.
void draw_selected(const DrawnBoxes& frame) {
  const auto& answer = frame.state.answers().address;
  if (!frame.state.position().address || answer.state != AnswerState::ready) return;
  const AddressAnswer& selected = *answer.value;
  if (selected.heap != frame.whole.heap || !selected.history.now) return;
  const HeldRow& row = selected.history.rows[*selected.history.now];
  const auto x_of = [&](std::uint64_t event, std::optional<std::int64_t> time_ns, double unknown) {
    double at = unknown;
    if (event != HeldRow::no_event && !frame.boxes.has_times) at = static_cast<double>(event + 1);
    if (event != HeldRow::no_event && time_ns) at = static_cast<double>(*time_ns - frame.boxes.first_time_ns);
    return std::clamp(frame.picture.x_of_axis(at), frame.picture.left - 8, frame.picture.right() + 8);
  };
  const float left = std::floor(x_of(row.event, row.begin_ns, 0)),
              right = std::ceil(x_of(row.end_event, row.end_ns, static_cast<double>(frame.whole.whole.end))),
              top = std::floor(frame.y_of(frame.boxes.axis.px_of(row.address))),
              bottom = std::ceil(frame.y_of(frame.boxes.axis.px_of_end(row.address + row.size)));
  const AddressRange range{row.address, row.address + row.size};
  const auto& regions = frame.boxes.axis.regions();
  if (std::none_of(regions.begin(), regions.end(), [&](const AddressRange& one) { return one.overlaps(range); }))
    return;
  draw_selection(*ImGui::GetWindowDrawList(), frame.look, {left - 2, top - 2},
                 {std::max(right, left + 3) + 2, std::max(bottom, top + 3) + 2});
}

void draw_boxes(const DrawnBoxes& frame, AddressTimeState& view) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const TimelinePicture& picture = frame.picture;
  const ImVec2 from{picture.left, frame.top()}, to{picture.right(), picture.bottom};
  draw.AddRectFilled(from, to, frame.look.role(Role::panel));
  draw.PushClipRect(from, to, true);
  const TimelineSpan& span = frame.boxes.query.span;
  float top = frame.top(), bottom = picture.bottom;
  if (frame.boxes.query.addresses != frame.seen()) {  // Stretched until the requested addresses are ready.
    const RowSpan seen = rows_of_all(frame.boxes, frame.seen()),
                  drawn = rows_of_all(frame.boxes, frame.boxes.query.addresses);
    const double px = frame.height() / std::max(1e-9, seen.end - seen.begin);
    top += static_cast<float>((drawn.begin - seen.begin) * px);
    bottom = top + static_cast<float>((drawn.end - drawn.begin) * px);
  }
  view.texture.draw(draw, {picture.x_of_axis(static_cast<double>(span.begin)), top},
                    {picture.x_of_axis(static_cast<double>(span.end)), bottom});
  draw_failures(frame);
  draw_selected(frame);
  draw.PopClipRect();
}

}  // namespace

void draw_address_time(const AppState& state, AddressTimeState& view, CommandQueue& commands) {
  if (state.position().address) commands.ask(Question::address);
  if (!draw_answer_state(state, state.answers().timeline, "the timeline"))
    return draw_no_heap(state, state.answers().timeline.state);
  const auto whole = state.answers().timeline.value, part = state.answers().timeline_part.value;
  if (whole->heap.empty()) return draw_no_heap(state, AnswerState::absent);
  const auto boxes = state.answers().address_time.value;
  const Look look(state);
  draw_head(state, *whole, boxes.get(), commands);
  if (boxes) draw_legend(look, *boxes);

  ImGui::BeginChild("boxes", {0, 0}, 0,
                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoNavInputs);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float gutter = gutter_of_lanes(look);  // So that the timeline's axis, above it, is the same to the pixel.
  const float axis = ImGui::GetTextLineHeight() + look.px(8);
  const ImVec2 from{std::floor(corner.x + gutter), std::floor(corner.y)};
  const ImVec2 to{std::floor(corner.x + room.x - look.px(6)), std::floor(corner.y + room.y - axis)};
  const int width = static_cast<int>(to.x - from.x), height = static_cast<int>(to.y - from.y);
  if (width < 16 || height < 16) return ImGui::EndChild();
  if (state.context().address_time_width != width || state.context().address_time_height != height)
    commands.push(command::size_address_time, {width, height});
  if (!draw_answer_state(state, state.answers().address_time, "the boxes")) return ImGui::EndChild();
  if (view.drawn != boxes || view.theme != state.settings.theme) {
    view.drawn = boxes;
    view.theme = state.settings.theme;
    view.texture.set(pixels_from_address_time(*boxes, view.theme), boxes->query.width, boxes->query.height);
  }
  const TimelinePicture picture = make_picture(*whole, part.get(), {state.position().span}, from, to, look);
  const DrawnBoxes frame{state, look, commands, *boxes, *whole, picture};
  draw_boxes(frame, view);
  draw_offsets(frame, corner.x);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw_time_axis(draw, state, picture, *whole, to.y);
  const auto moment = drawn_moment(state);
  if (moment && moment->trace == state.source()->trace)
    draw_moment_line(draw, look, picture, axis_of_moment(*moment, *whole), 0);
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton("picture", {static_cast<float>(width), static_cast<float>(height)},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  handle_pointer(frame, ImGui::IsItemHovered(), ImGui::IsItemActive());
  zoom_with_keys(frame);
  if (view.zoom_seen != state.window.zoom_serial) {  // The key 0 shows everything.
    view.zoom_seen = state.window.zoom_serial;
    const bool has_pointer = ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows);
    if (has_pointer || state.is_in_front(ViewKind::address_time)) frame.show_all();
  }
  ImGui::EndChild();
  if (take_copy(state, ViewKind::address_time, view.copy_seen))
    copy_table(state, table_from_address_time(*boxes), commands);
}

std::unique_ptr<DrawnView> make_address_time() {
  return make_view(draw_address_time);
}

}  // namespace hbmscope::gui
