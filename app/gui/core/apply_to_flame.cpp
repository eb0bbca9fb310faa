// Commands of the flame graph and the call tree.
#include "app/gui/core/app_state.h"
#include "app/gui/core/apply_commands.h"
#include "app/gui/core/looking.h"

#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

const TreeNode* node_at(const FlameAnswer& flame, const std::vector<FrameKey>& path) {
  const auto& nodes = flame.tree.nodes;
  if (nodes.empty()) return nullptr;
  const TreeNode* node = &nodes.front();
  for (const FrameKey& key : path) {
    std::uint32_t child = node->first_child;
    while (child != no_node &&
           !matches(key, flame.view->frames[static_cast<std::size_t>(nodes[child].frame)], flame.view->request.by))
      child = nodes[child].next_sibling;
    if (child == no_node) return nullptr;
    node = &nodes[child];
  }
  return node;
}

// The path to the widest node of the selected frame, for Zoom to the selection.
std::vector<FrameKey> path_to_widest(const FlameAnswer& flame, FrameIndex frame) {
  const auto& nodes = flame.tree.nodes;
  std::uint32_t widest = no_node;
  for (std::uint32_t i = 1; i < nodes.size(); ++i)
    if (nodes[i].frame == frame && (widest == no_node || nodes[i].cum.bytes > nodes[widest].cum.bytes)) widest = i;
  std::vector<FrameKey> path;
  if (widest == no_node) return path;
  for (const FrameIndex step : flame.tree.path(widest))
    path.push_back(key_from_frame(flame.view->frames[static_cast<std::size_t>(step)]));
  return path;
}

TreeDirection inverted(TreeDirection direction) {
  return direction == TreeDirection::callees ? TreeDirection::callers : TreeDirection::callees;
}

// Before a change of the flame graph: it also undoes zooming with the wheel.
ViewPosition& position_to_change(AppParts& parts) {
  ++parts.state.window.flame_serial;
  return parts.state.context().position;
}

}  // namespace

namespace apply {

// One line each, as in a table.
// clang-format off
void toggle_value(AppParts& parts) {
  ViewPosition& position = position_to_change(parts);
  position.value = position.value == FlameValue::bytes ? FlameValue::count : FlameValue::bytes;
}
void toggle_fold(AppParts& parts) {
  ViewPosition& position = position_to_change(parts);
  position.fold_library = !position.fold_library;
}
void toggle_flame_direction(AppParts& parts) {
  ViewPosition& position = position_to_change(parts);
  position.flame_direction = inverted(position.flame_direction);
  position.zoom.clear();
}
void toggle_tree_direction(AppParts& parts) {
  ViewPosition& position = position_to_change(parts);
  position.tree_direction = inverted(position.tree_direction);
}
void zoom_flame(AppParts& parts, const std::vector<FrameKey>& path) { position_to_change(parts).zoom = path; }
void zoom_out(AppParts& parts) {
  ++parts.state.window.zoom_serial;
  position_to_change(parts).zoom.clear();
}
// To the selected block in a view of blocks, otherwise to the selected frame in the flame graph.
void zoom_to_selection(AppParts& parts) {
  AppState& state = parts.state;
  if (shows_blocks(state) && state.position().address) {
    ++state.window.fit_selection_serial;
    return;
  }
  ViewPosition& position = position_to_change(parts);
  const auto& flame = state.answers().flame.value;
  if (!flame || node_at(*flame, position.zoom) == nullptr) return;
  const auto path = path_to_widest(*flame, state.selected_frame(flame->view));
  if (!path.empty()) position.zoom = path;
}
// clang-format on

}  // namespace apply
}  // namespace hbmscope::gui
