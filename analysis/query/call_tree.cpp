#include "analysis/query/call_tree.h"

#include <algorithm>

#include "analysis/query/stack_paths.h"

namespace hbmscope {
namespace {

// The visible frames of a sample, in the direction of the tree.
void collect_path(const ProfileView& view, std::uint32_t sample, TreeDirection direction, bool fold_library,
                  std::vector<std::uint32_t>& path) {
  path.clear();
  for (const LocationIndex location : view.stack(sample))
    for (const FrameIndex frame : view.frames_of(location)) path.push_back(static_cast<std::uint32_t>(frame));
  if (fold_library) {
    // Starts at the outermost frame in either direction: the first frame of a run is the one that the user's code
    // called.
    bool previous_is_library = false;
    const auto kept = std::remove_if(path.rbegin(), path.rend(), [&](std::uint32_t frame) {
      const bool is_library = view.frames[frame].is_library;
      const bool folded = is_library && previous_is_library;
      previous_is_library = is_library;
      return folded;
    });
    path.erase(path.begin(), kept.base());
  }
  if (direction == TreeDirection::callees) std::reverse(path.begin(), path.end());
}

// Sorts every node's children, largest first. Requires that they are linked, in any order.
void sort_children(const ProfileView& view, std::vector<TreeNode>& nodes) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const TreeNode &na = nodes[a], &nb = nodes[b];
    if (na.cum.bytes != nb.cum.bytes) return na.cum.bytes > nb.cum.bytes;
    if (na.cum.count != nb.cum.count) return na.cum.count > nb.cum.count;
    const Frame &fa = view.frames[row(na.frame)], &fb = view.frames[row(nb.frame)];
    if (fa.function != fb.function) return fa.function < fb.function;
    return na.frame < nb.frame;
  };
  std::vector<std::uint32_t> children;
  for (TreeNode& node : nodes) {
    if (node.first_child == no_node || nodes[node.first_child].next_sibling == no_node) continue;
    children.clear();
    for (std::uint32_t child = node.first_child; child != no_node; child = nodes[child].next_sibling)
      children.push_back(child);
    std::sort(children.begin(), children.end(), before);
    std::uint32_t* link = &node.first_child;
    for (const std::uint32_t child : children) {
      *link = child;
      link = &nodes[child].next_sibling;
    }
    *link = no_node;
  }
}

}  // namespace

std::vector<FrameIndex> CallTree::path(std::uint32_t node) const {
  std::vector<FrameIndex> frames;
  for (; node != 0 && node != no_node; node = nodes[node].parent) frames.push_back(nodes[node].frame);
  std::reverse(frames.begin(), frames.end());
  return frames;
}

std::optional<CallTree> compute_call_tree(const ProfileView& view, TreeDirection direction, bool fold_library,
                                          const std::atomic<bool>* cancelled) {
  const auto is_cancelled = [&] { return cancelled != nullptr && *cancelled; };
  StackPaths paths;
  paths.reserve(view.sample_count(), view.all_samples ? view.profile->stack_locations.size() : 0);
  std::vector<std::uint32_t> path;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    if (i % 4096 == 0 && is_cancelled()) return std::nullopt;
    collect_path(view, view.sample(i), direction, fold_library, path);
    paths.add(view.sample(i), path);
  }
  if (!paths.sort(cancelled)) return std::nullopt;

  std::size_t node_count = 1;  // Counted first, because a growing vector would hold the tree twice.
  for (std::size_t i = 0; i < paths.size(); ++i) node_count += paths.symbols(i).size() - paths.shared_with_previous(i);
  CallTree tree;
  tree.direction = direction;
  tree.nodes.reserve(node_count);
  tree.nodes.emplace_back();
  std::vector<std::uint32_t> open = {0};  // The path from the root to the last node.
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (i % 4096 == 0 && is_cancelled()) return std::nullopt;
    const auto symbols = paths.symbols(i);
    open.resize(paths.shared_with_previous(i) + 1);
    for (std::size_t depth = open.size() - 1; depth < symbols.size(); ++depth) {
      const auto number = static_cast<std::uint32_t>(tree.nodes.size());
      TreeNode& node = tree.nodes.emplace_back();
      TreeNode& parent = tree.nodes[open.back()];
      node.frame = static_cast<FrameIndex>(symbols[depth]);
      node.parent = open.back();
      node.next_sibling = parent.first_child;
      node.depth = static_cast<std::uint32_t>(depth + 1);
      parent.first_child = number;
      tree.max_depth = std::max(tree.max_depth, node.depth);
      open.push_back(number);
    }
    tree.nodes[open.back()].flat += view.weight(paths.owner(i));
  }
  // Parents have smaller numbers than their children, so one backward pass adds up the sums.
  for (TreeNode& node : tree.nodes) node.cum = node.flat;
  for (std::size_t i = tree.nodes.size(); i-- > 1;) tree.nodes[tree.nodes[i].parent].cum += tree.nodes[i].cum;
  sort_children(view, tree.nodes);
  return tree;
}

}  // namespace hbmscope
