#include "app/gui/views/flame_graph/draw_flame_graph.h"

#include <algorithm>
#include <cmath>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/flame_graph/draw_flame_legend.h"
#include "app/gui/views/flame_graph/draw_flame_zoom.h"

namespace hbmscope::gui {
namespace {

// Everything needed to draw a box.
struct Drawing {
  const AppState& state;
  const Look& look;
  const FlameAnswer& answer;
  const FlameSearch* search;  // nullptr: no search.
  FrameIndex selected;
  std::size_t hovered_hue;
  ImVec2 origin;
  float row_height;
};

const Frame& frame_of(const FlameAnswer& answer, FrameIndex frame) {
  return answer.view->frames[static_cast<std::size_t>(frame)];
}

// What has changed since the baseline: from the colour of what is the same to that of what has grown or shrunk, by its
// share of the larger one of both.
Color fill_of_change(const Look& look, std::int64_t now, std::int64_t before) {
  const std::int64_t change = now - before;
  if (change == 0) return look.rgb(Role::same);
  const double share = static_cast<double>(std::abs(change)) / static_cast<double>(std::max({now, before, change}));
  return mix(look.rgb(Role::same), look.rgb(change > 0 ? Role::grown : Role::shrunk),
             0.25 + 0.75 * std::min(1.0, share));
}

std::int64_t value_before(const FlameAnswer& answer, std::uint32_t node, FlameValue value) {
  return value_of(answer.before[node], value);
}

Color fill_of(const Drawing& drawing, const FlameBox& box, bool& dimmed) {
  const TreeNode& node = drawing.answer.tree.nodes[box.node];
  const Color panel = drawing.look.rgb(Role::panel);
  dimmed = drawing.search != nullptr && !drawing.search->hit[box.node];
  if (!drawing.answer.before.empty()) {
    const FlameValue value = drawing.state.position().value;
    return fill_of_change(drawing.look, value_of(node.cum, value), value_before(drawing.answer, box.node, value));
  }
  if (node.frame == FrameIndex::none) return mix(panel, drawing.look.rgb(Role::text), 0.22);
  const Frame& frame = frame_of(drawing.answer, node.frame);
  const std::size_t hue = drawing.state.colors.hue_of(frame.file);
  if (drawing.hovered_hue <= hue_count && (frame.is_library || hue != drawing.hovered_hue)) dimmed = true;
  if (frame.is_library) return drawing.look.rgb(Role::same);
  return drawing.look.rgb(role_from_hue(hue));
}

void draw_box(ImDrawList& draw, const Drawing& drawing, const FlameBox& box) {
  const TreeNode& node = drawing.answer.tree.nodes[box.node];
  const Look& look = drawing.look;
  const float y = drawing.origin.y + static_cast<float>(box.depth) * drawing.row_height;
  const ImVec2 from{drawing.origin.x + box.x0, y};
  // The last pixel in both directions stays empty, so that neighbours of the same colour are distinguishable.
  const ImVec2 to{drawing.origin.x + std::max(box.x0 + 1, box.x1 - 1), y + drawing.row_height - 1};
  bool dimmed = false;
  Color fill = fill_of(drawing, box, dimmed);
  if (dimmed) fill = mix(look.rgb(Role::panel), fill, 0.3);
  draw.AddRectFilled(from, to, look.color(fill));
  // Several narrow frames share this box, so it must not get the name of one of them.
  if (box.merged > 1 && to.x - from.x >= 3) draw_hatch(draw, look, from, to, look.role(Role::panel, 0.35F));

  const float width = to.x - from.x;
  if (width > look.px(24)) {
    const bool root = node.frame == FrameIndex::none;
    const std::string name = root ? "all" : frame_of(drawing.answer, node.frame).function;
    const std::string words = name + "  " + value_text(*drawing.answer.view, node.cum, drawing.state.position().value);
    const float space = width - look.px(8);
    const std::string shown = shortened(ImGui::CalcTextSize(words.c_str()).x <= space ? words : name, space);
    const Color ink = dimmed ? look.rgb(Role::dim_text) : text_on(fill);
    if (shown.size() > 4 || shown == name)
      draw.AddText({from.x + look.px(4), from.y + (drawing.row_height - ImGui::GetTextLineHeight()) / 2 - 0.5F},
                   look.color(ink), shown.c_str());
  }
  if (node.frame != FrameIndex::none && node.frame == drawing.selected)
    draw_selection(draw, look, {from.x, from.y}, {std::max(to.x, from.x + 5), to.y});
}

// What has no stack, beside the outermost frames: the part of the root that is in none of them.
void draw_without_stack(ImDrawList& draw, const Drawing& drawing, const FlameState& flame, float width) {
  const TreeNode& root = drawing.answer.tree.nodes.front();
  const FlameValue value = drawing.state.position().value;
  const std::int64_t all = value_of(root.cum, value), without = value_of(root.flat, value);
  if (without <= 0 || all <= 0) return;
  const auto px_of = [&](double at) {
    return drawing.origin.x +
           static_cast<float>(std::clamp((at - flame.begin) / (flame.end - flame.begin), 0.0, 1.0)) * width;
  };
  const float y = drawing.origin.y + drawing.row_height;
  const ImVec2 from{px_of(1 - static_cast<double>(without) / static_cast<double>(all)), y};
  const ImVec2 to{px_of(1) - 1, y + drawing.row_height - 1};
  if (to.x <= from.x) return;
  const Look& look = drawing.look;
  draw_hatch(draw, look, from, to, look.role(Role::dim_text, 0.3F));
  draw.AddRect(from, to, look.role(Role::dim_text, 0.5F));
  const std::string words = "no stack was recorded  " + value_text(*drawing.answer.view, root.flat, value);
  if (to.x - from.x > look.px(24))
    draw.AddText({from.x + look.px(4), y + (drawing.row_height - ImGui::GetTextLineHeight()) / 2 - 0.5F},
                 look.role(Role::text), shortened(words, to.x - from.x - look.px(8)).c_str());
}

const FlameBox* box_at(const FlameState& flame, const Drawing& drawing, ImVec2 pointer) {
  const float x = pointer.x - drawing.origin.x;
  const auto depth = static_cast<std::int64_t>(std::floor((pointer.y - drawing.origin.y) / drawing.row_height));
  for (const FlameBox& box : flame.boxes)
    if (box.depth == depth && x >= box.x0 && x < std::max(box.x1, box.x0 + 1)) return &box;
  return nullptr;
}

void draw_stack(const FlameAnswer& answer, std::uint32_t node) {
  constexpr std::size_t most = 30;
  const std::vector<FrameIndex> path = answer.tree.path(node);
  const std::size_t first = path.size() > most ? path.size() - most : 0;
  if (first > 0) dim_text("... " + text_from_count(static_cast<std::int64_t>(first)) + " more");
  for (std::size_t i = first; i < path.size(); ++i) {
    const Frame& frame = frame_of(answer, path[i]);
    const std::string line = frame.function + "  " + location_text(frame);
    if (i + 1 == path.size()) {
      bold_text(line);
    } else if (frame.is_library) {
      dim_text(line);
    } else {
      text(line);
    }
  }
}

std::string baseline_name(const AppState& state) {
  return state.baseline() != nullptr ? state.baseline()->name() : "the pinned time";
}

void draw_tooltip(const AppState& state, const FlameAnswer& answer, const FlameBox& box) {
  const ProfileView& view = *answer.view;
  const TreeNode& node = answer.tree.nodes[box.node];
  ImGui::BeginTooltip();
  if (node.frame == FrameIndex::none) {
    bold_text("all");
  } else {
    bold_text(frame_of(answer, node.frame).function);
    if (const std::string& file = frame_of(answer, node.frame).file; !file.empty())
      dim_text(shortened(file, ImGui::GetFontSize() * 40, true) +
               (frame_of(answer, node.frame).line > 0 ? ":" + std::to_string(frame_of(answer, node.frame).line) : ""));
  }
  text(amount_text(view, node.cum.bytes) + " (" + exact_amount_text(view, node.cum.bytes) + "), " +
       text_from_share(value_of(node.cum, state.position().value), value_of(view.total, state.position().value)) + " " +
       base_text(view, state.position().value));
  if (!answer.before.empty())
    text(delta_amount_text(view, node.cum.bytes - answer.before[box.node].bytes) + " since " + baseline_name(state));
  text("count " + text_from_count(node.cum.count) + ", flat " + amount_text(view, node.flat.bytes));
  if (box.merged > 1)
    dim_text("the widest of " + text_from_count(box.merged) + " frames in this pixel; zoom in to see them");
  if (node.frame != FrameIndex::none) {
    ImGui::Separator();
    draw_stack(answer, box.node);
  }
  ImGui::EndTooltip();
}

void draw_crumbs(const AppState& state, CommandQueue& commands) {
  const std::vector<FrameKey>& zoom = state.position().zoom;
  // The line is always visible; if it appeared only while zoomed, the picture would move under the pointer.
  ImGui::PushID("crumbs");
  ImGui::BeginDisabled(zoom.empty());
  if (link("all")) commands.push(CommandId::zoom_out);
  ImGui::EndDisabled();
  // Only both ends of a long path; its middle is in the flame graph.
  constexpr std::size_t ends = 3;
  for (std::size_t i = 0; i < zoom.size(); ++i) {
    if (zoom.size() > 2 * ends && i == ends) {
      ImGui::SameLine(0, 0);
      dim_text("> ...");
    }
    if (zoom.size() > 2 * ends && i >= ends && i < zoom.size() - ends) continue;
    ImGui::SameLine(0, 0);
    dim_text(">");
    ImGui::SameLine(0, 0);
    ImGui::PushID(static_cast<int>(i));
    if (link(zoom[i].function.c_str())) {
      commands.push(command::zoom_flame, {zoom.begin(), zoom.begin() + static_cast<std::ptrdiff_t>(i) + 1});
    }
    ImGui::PopID();
  }
  ImGui::PopID();
}

// The meaning of the widths: "bytes in use at the peak (...)", or "bytes held" for a profile, which has no times.
std::string value_words(const AppState& state, const FlameAnswer& answer) {
  const bool is_count = state.position().value != FlameValue::bytes;
  const auto& moment = state.answers().moment.value;
  const bool of_trace = state.source() != nullptr && state.source()->trace && moment;
  if (of_trace)
    return std::string(is_count ? "blocks" : "bytes") + " in use" + in_scope(state) + " " +
           phrase_of(*moment, choose_heap(*moment->trace, state.position().heap));
  return is_count ? "count" : amount_title(*answer.view) + " held";
}

// True if there was no room for Copy.
bool draw_head(const AppState& state, const FlameAnswer& answer, CommandQueue& commands) {
  const ViewPosition& position = state.position();
  const bool down = answer.tree.direction == TreeDirection::callees;
  const char* const turn = down ? "Callers on top" : "Leaves on top";
  if (ImGui::Button(turn)) commands.push(CommandId::toggle_flame_direction);
  tooltip(
      "Inverts the flame graph: from the outermost frame to its callees, or from the innermost frame to its callers "
      "(I)");
  flow(button_width("Fold libraries") + ImGui::GetFrameHeight());
  bool fold = position.fold_library;
  if (check_box("Fold libraries", &fold)) commands.push(CommandId::toggle_fold);
  tooltip("Joins consecutive library frames into one grey frame (F)");
  if (state.answers().search.value && !position.find.empty()) {
    const SearchAnswer& search = *state.answers().search.value;
    ImGui::SameLine();
    text(
        value_text(*answer.view, search.search.matched, position.value) + " (" +
        text_from_share(value_of(search.search.matched, position.value), value_of(answer.view->total, position.value)) +
        ") matches \"" + search.text + "\"");
  }
  draw_rest_of_line(value_words(state, answer), button_width("Copy"));
  // If there is little room, e.g. side by side, Copy goes to the line of breadcrumbs.
  const bool is_narrow = !has_room_behind(button_width("Copy"));
  if (!is_narrow) draw_copy_menu(ViewKind::flame, commands);
  return is_narrow;
}

void handle_clicks(const AppState& state, const FlameAnswer& answer, const FlameBox& box, CommandQueue& commands) {
  const TreeNode& node = answer.tree.nodes[box.node];
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    commands.push(command::zoom_flame, path_of(answer, box.node));
    return;
  }
  const ImGuiIO& io = ImGui::GetIO();
  const bool clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] <= 16;
  if (!clicked || io.MouseClickedLastCount[0] > 1) return;  // The end of a double click must not change the selection.
  if (node.frame == FrameIndex::none) {
    commands.push(CommandId::clear_selection);
  } else if (node.frame != state.selected_frame(answer.view)) {
    commands.select(key_from_frame(frame_of(answer, node.frame)));
  }
}

}  // namespace

void draw_flame_graph(const AppState& state, FlameState& flame, CommandQueue& commands) {
  if (!draw_answer_state(state, state.answers().flame, "the flame graph")) return;
  const auto answer = state.answers().flame.value;
  const Look look(state);
  const bool is_narrow = draw_head(state, *answer, commands);
  // In a low view, frames need the lines more than the legend does; tooltips also show a frame's file.
  const bool is_low = ImGui::GetContentRegionAvail().y < 9 * ImGui::GetFrameHeight();
  flame.hovered_hue = hue_count + 1;
  if (!answer->before.empty())
    dim_text("Colours: grown (orange), shrunk (blue), the same (grey) since " + baseline_name(state) +
             "; what is gone has no width.");
  else if (!is_low)
    flame.hovered_hue = draw_flame_legend(state, commands);
  draw_crumbs(state, commands);
  if (is_narrow) draw_copy_menu(ViewKind::flame, commands);
  if (answer->layout.rows.size() <= 1) {
    wrapped_text("The filter hides all stacks.");
    if (ImGui::Button("Clear filter")) commands.push(CommandId::clear_filter);
    return;
  }
  follow_zoom(state, answer, flame);

  ImGui::BeginChild("picture", {0, 0}, 0, ImGuiWindowFlags_NoScrollWithMouse);
  const float width = ImGui::GetContentRegionAvail().x;
  const float row_height = std::round(look.px(24));
  follow_selection(state, *answer, flame, row_height);
  const auto rows = static_cast<std::uint32_t>(answer->layout.rows.size());
  const auto& search = state.answers().search.value;
  const Drawing drawing{state,
                        look,
                        *answer,
                        search && search->flame == answer && !state.position().find.empty() ? &search->search : nullptr,
                        state.selected_frame(answer->view),
                        flame.hovered_hue,
                        ImGui::GetCursorScreenPos(),
                        row_height};
  ImGui::InvisibleButton("frames", {std::max(width, 1.0F),
                                    std::max(static_cast<float>(rows) * row_height, ImGui::GetContentRegionAvail().y)});
  const bool hovered = ImGui::IsItemHovered();
  const auto first_row = static_cast<std::uint32_t>(std::max(0.0F, ImGui::GetScrollY() / row_height));
  const auto last_row =
      std::min(rows, first_row + static_cast<std::uint32_t>(ImGui::GetWindowHeight() / row_height) + 2);
  flame.boxes.clear();
  visible_flame_boxes(answer->layout, flame.begin, flame.end, width, first_row, last_row, flame.boxes);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  for (const FlameBox& box : flame.boxes) draw_box(draw, drawing, box);
  if (first_row <= 1) draw_without_stack(draw, drawing, flame, width);

  if (hovered || ImGui::IsItemActive()) zoom_with_pointer(flame, width, drawing.origin.x);
  const FlameBox* under = hovered ? box_at(flame, drawing, ImGui::GetMousePos()) : nullptr;
  if (under != nullptr) {
    const float y = drawing.origin.y + static_cast<float>(under->depth) * row_height;
    draw.AddRect({drawing.origin.x + under->x0, y}, {drawing.origin.x + under->x1, y + row_height - 1},
                 look.role(Role::text), 0, look.px(1.5F));
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) draw_tooltip(state, *answer, *under);
    handle_clicks(state, *answer, *under, commands);
    if (answer->tree.nodes[under->node].frame != FrameIndex::none)
      flame.menu_frame = frame_of(*answer, answer->tree.nodes[under->node].frame);
  }
  if (!flame.menu_frame.function.empty()) draw_frame_menu(state, flame.menu_frame, commands);
  zoom_with_keys(flame);
  ImGui::EndChild();
  step_through_hits(state, *answer, flame, commands);
  if (take_copy(state, ViewKind::flame, flame.copy_seen)) {
    const auto nodes = nodes_worth_listing(answer->tree, flame.zoom_node, 0.001);
    copy_table(state, table_from_nodes(*answer->view, answer->tree, nodes), commands);
  }
}

std::unique_ptr<DrawnView> make_flame() {
  return make_view(draw_flame_graph);
}

}  // namespace hbmscope::gui
