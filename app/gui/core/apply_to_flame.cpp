// Commands of the flame graph and the call tree.
#include "app/gui/core/apply_commands.h"

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

}  // namespace

bool apply_to_flame(AppState& state, const Command& command) {
  ViewPosition& position = state.context().position;
  const auto& flame = state.answers().flame.value;
  ++state.window.zoom_serial;  // Also undoes zooming with the wheel.
  using enum CommandId;
  switch (command.id) {
    case toggle_value:
      position.value = position.value == FlameValue::bytes ? FlameValue::count : FlameValue::bytes;
      return true;
    case toggle_fold: position.fold_library = !position.fold_library; return true;
    case toggle_flame_direction:
      position.flame_direction = inverted(position.flame_direction);
      position.zoom.clear();
      return true;
    case toggle_tree_direction: position.tree_direction = inverted(position.tree_direction); return true;
    case zoom_flame: position.zoom = command.as<std::vector<FrameKey>>(); return true;
    case zoom_out: position.zoom.clear(); return true;
    case zoom_to_selection:
      if (flame && node_at(*flame, position.zoom) != nullptr) {
        const auto path = path_to_widest(*flame, state.selected_frame(flame->view));
        if (!path.empty()) position.zoom = path;
      }
      return true;
    default: return false;
  }
}

}  // namespace hbmscope::gui
