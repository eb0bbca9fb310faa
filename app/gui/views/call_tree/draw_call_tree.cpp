#include "app/gui/views/call_tree/draw_call_tree.h"

#include <algorithm>

#include <imgui_internal.h>  // RenderArrow

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

const Frame& frame_of(const TreeAnswer& answer, std::uint32_t node) {
  return answer.view->frames[static_cast<std::size_t>(answer.tree.nodes[node].frame)];
}

void list_rows(const CallTree& tree, CallTreeState& state) {
  state.rows.clear();
  std::vector<std::uint32_t> todo{0};
  while (!todo.empty()) {
    const std::uint32_t node = todo.back();
    todo.pop_back();
    state.rows.push_back(node);
    if (!state.open[node]) continue;
    const std::size_t first = todo.size();
    for (std::uint32_t child = tree.nodes[node].first_child; child != no_node; child = tree.nodes[child].next_sibling)
      todo.push_back(child);
    std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first), todo.end());
  }
}

// Opens the path along which each node holds at least half of its parent, so that the largest stack is visible at once.
void open_largest_way(const CallTree& tree, std::vector<bool>& open) {
  std::uint32_t node = 0;
  while (node != no_node) {
    open[node] = true;
    const std::uint32_t child = tree.nodes[node].first_child;
    if (child == no_node || tree.nodes[child].cum.bytes * 2 < tree.nodes[node].cum.bytes) break;
    node = child;
  }
}

void open_ways_to_hits(const TreeAnswer& answer, const std::string& find, std::vector<bool>& open) {
  for (std::uint32_t node = 1; node < answer.tree.nodes.size(); ++node) {
    if (!found_by(find, frame_of(answer, node))) continue;
    for (std::uint32_t above = answer.tree.nodes[node].parent; above != no_node && !open[above];
         above = answer.tree.nodes[above].parent)
      open[above] = true;
  }
}

void renew(const AppState& state, const std::shared_ptr<const TreeAnswer>& answer, CallTreeState& tree) {
  const std::string& find = state.position().find;
  if (tree.answer == answer && tree.find == find) return;
  if (tree.answer != answer) {
    tree.open.assign(answer->tree.nodes.size(), false);
    open_largest_way(answer->tree, tree.open);
  }
  if (!find.empty()) open_ways_to_hits(*answer, find, tree.open);
  tree.answer = answer;
  tree.find = find;
  list_rows(answer->tree, tree);
}

void open_all_below(const CallTree& tree, std::uint32_t root, bool value, std::vector<bool>& open) {
  std::vector<std::uint32_t> todo{root};
  while (!todo.empty()) {
    const std::uint32_t node = todo.back();
    todo.pop_back();
    open[node] = value;
    for (std::uint32_t child = tree.nodes[node].first_child; child != no_node; child = tree.nodes[child].next_sibling)
      todo.push_back(child);
  }
}

// Draws the triangle, the indentation and the name. True if nodes were opened or closed.
bool draw_name(const AppState& state, const Look& look, const TreeAnswer& answer, CallTreeState& tree,
               std::uint32_t node) {
  const TreeNode& at = answer.tree.nodes[node];
  const bool root = at.frame == FrameIndex::none;
  const bool has_children = at.first_child != no_node;
  bool changed = false;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + look.px(10) * static_cast<float>(at.depth));
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetTextLineHeight();
  if (ImGui::InvisibleButton("open", {look.px(18), side}) && has_children) {
    if (ImGui::GetIO().KeyShift) {
      open_all_below(answer.tree, node, !tree.open[node], tree.open);
    } else {
      tree.open[node] = !tree.open[node];
    }
    changed = true;
  }
  if (has_children)
    ImGui::RenderArrow(ImGui::GetWindowDrawList(), {corner.x, corner.y + side * 0.15F}, look.role(Role::dim_text),
                       tree.open[node] ? ImGuiDir_Down : ImGuiDir_Right, 0.7F);
  ImGui::SameLine(0, look.px(2));
  const std::string name = root ? "all" : frame_of(answer, node).function;
  const bool hit = !root && !state.position().find.empty() && found_by(state.position().find, frame_of(answer, node));
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  if (hit) {
    const ImVec2 size = ImGui::CalcTextSize(name.c_str());
    ImGui::GetWindowDrawList()->AddRectFilled({begin.x - 2, begin.y}, {begin.x + size.x + 2, begin.y + size.y},
                                              look.role(Role::temporaries, 0.4F));
  }
  if (!root && frame_of(answer, node).is_library) {
    dim_text(name);
  } else {
    text(name);
  }
  return changed;
}

bool draw_row(const AppState& state, const Look& look, const TreeAnswer& answer, CallTreeState& tree,
              std::uint32_t node, CommandQueue& commands) {
  const ProfileView& view = *answer.view;
  const TreeNode& at = answer.tree.nodes[node];
  const bool root = at.frame == FrameIndex::none;
  const std::int64_t whole = view.total.bytes;
  bool changed = false;
  ImGui::TableNextRow(0, look.px(24));
  ImGui::PushID(static_cast<int>(node));
  ImGui::TableNextColumn();
  const ImVec2 corner = ImGui::GetCursorPos();
  const bool selected = !root && state.selected_frame(answer.view) == at.frame;
  if (ImGui::Selectable("##row", selected,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap |
                            ImGuiSelectableFlags_AllowDoubleClick)) {
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      tree.open[node] = !tree.open[node];
      changed = true;
    } else if (!root) {
      commands.select(key_from_frame(frame_of(answer, node)));
    }
  }
  if (ImGui::IsItemFocused()) {
    if (ImGui::IsKeyPressed(ImGuiKey_RightArrow) && !tree.open[node]) changed = tree.open[node] = true;
    if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow) && tree.open[node]) {
      tree.open[node] = false;
      changed = true;
    }
  }
  if (!root) draw_frame_menu(state, frame_of(answer, node), commands);
  ImGui::SetCursorPos(corner);
  changed = draw_name(state, look, answer, tree, node) || changed;
  ImGui::TableNextColumn();
  const double share = whole == 0 ? 0 : static_cast<double>(at.cum.bytes) / static_cast<double>(whole);
  bar_cell(look, share, amount_text(view, at.cum.bytes), look.bar());
  tooltip(exact_amount_text(view, at.cum.bytes));
  ImGui::TableNextColumn();
  right_text(text_from_share(at.cum.bytes, whole), true);
  ImGui::TableNextColumn();
  right_text(amount_text(view, at.flat.bytes), at.flat.bytes == 0);
  ImGui::TableNextColumn();
  right_text(text_from_count(at.cum.count));
  ImGui::TableNextColumn();
  if (!root) {
    dim_text(shortened(location_text(frame_of(answer, node)), ImGui::GetContentRegionAvail().x, true));
    if (!frame_of(answer, node).file.empty()) tooltip(frame_of(answer, node).file);
  }
  ImGui::PopID();
  return changed;
}

void draw_head(const AppState& state, const TreeAnswer& answer, CommandQueue& commands) {
  const bool down = state.position().tree_direction == TreeDirection::callees;
  if (radio_button("Top-down", down) && !down) commands.push(CommandId::toggle_tree_direction);
  tooltip("From the outermost frame to its callees.");
  ImGui::SameLine();
  if (radio_button("Bottom-up", !down) && down) commands.push(CommandId::toggle_tree_direction);
  tooltip("From the frame that allocated to its callers.");
  draw_rest_of_line("% " + base_text(*answer.view) + in_scope(state) + ". Shift+click opens all levels below.",
                    button_width("Copy"));
  draw_copy_menu(ViewKind::call_tree, commands);
}

}  // namespace

void draw_call_tree(const AppState& state, CallTreeState& tree, CommandQueue& commands) {
  if (!draw_answer_state(state, state.answers().tree, "the call tree")) return;
  const auto answer = state.answers().tree.value;
  const Look look(state);
  draw_head(state, *answer, commands);
  renew(state, answer, tree);
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                    ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoBordersInBodyUntilResize;
  bool changed = false;
  if (ImGui::BeginTable("tree", 6, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    constexpr ImGuiTableColumnFlags name = ImGuiTableColumnFlags_WidthStretch;
    constexpr ColumnSetup columns[] = {
        {"Frame", 170, 0, name, 3}, {"Cumulative", 130},         {"%", 62, 3}, {"Flat", 84, 2},
        {"Count", 66, 4},           {"Where", 80, 1, name, 1.5F}};
    set_up_table_columns(look, columns);
    table_headers(1, 5);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(tree.rows.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        changed = draw_row(state, look, *answer, tree, tree.rows[static_cast<std::size_t>(i)], commands) || changed;
    ImGui::EndTable();
  }
  if (changed) list_rows(answer->tree, tree);
  if (take_copy(state, ViewKind::call_tree, tree.copy_seen))
    copy_table(state, table_from_nodes(*answer->view, answer->tree, tree.rows), commands);
}

std::unique_ptr<DrawnView> make_call_tree() {
  return make_view(draw_call_tree);
}

}  // namespace hbmscope::gui
