#include "analysis/query/call_tree.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "analysis/query/own_frame.h"
#include "analysis/query/stack_paths.h"

namespace hbmscope {
namespace {

// By frame; empty if there are none.
std::vector<bool> find_module_calls(const ProfileView& view) {
  std::vector<bool> are_calls;
  for (std::size_t i = 0; i < view.frames.size(); ++i) {
    if (!is_module_call(view.frames[i].function, view.frames[i].file)) continue;
    are_calls.resize(view.frames.size());
    are_calls[i] = true;
  }
  return are_calls;
}

// The visible frames of a sample, in the direction of the tree. Folded, module calls are left out, too.
void collect_path(const ProfileView& view, std::uint32_t sample, TreeDirection direction, bool fold_library,
                  const std::vector<bool>& module_calls, std::vector<std::uint32_t>& path) {
  path.clear();
  for (const LocationIndex location : view.stack(sample))
    for (const FrameIndex frame : view.frames_of(location)) path.push_back(static_cast<std::uint32_t>(frame));
  if (fold_library) {
    if (!module_calls.empty()) std::erase_if(path, [&](std::uint32_t frame) { return module_calls[frame]; });
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
  const std::vector<bool> module_calls = fold_library ? find_module_calls(view) : std::vector<bool>();
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    if (i % 4096 == 0 && is_cancelled()) return std::nullopt;
    collect_path(view, view.sample(i), direction, fold_library, module_calls, path);
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

std::vector<Weight> find_same_paths(const ProfileView& view, const CallTree& tree, const ProfileView& other_view,
                                    const CallTree& other) {
  std::unordered_map<std::string, std::uint32_t> names;
  const auto number_frames = [&](const ProfileView& of) {
    std::vector<std::uint32_t> numbers;
    for (const Frame& frame : of.frames) {
      std::string name = frame.function + '\n' + std::string(file_tail(frame.file));
      if (of.request.by == FrameBy::line) name += ':' + std::to_string(frame.line);
      numbers.push_back(names.try_emplace(std::move(name), static_cast<std::uint32_t>(names.size())).first->second);
    }
    return numbers;
  };
  const std::vector<std::uint32_t> numbers = number_frames(view), other_numbers = number_frames(other_view);
  const auto key_of = [](std::uint32_t parent, std::uint32_t name) { return std::uint64_t{parent} << 32 | name; };
  std::unordered_map<std::uint64_t, std::uint32_t> children;  // By parent and name, in the other tree.
  for (std::uint32_t node = 1; node < other.nodes.size(); ++node)
    children.try_emplace(key_of(other.nodes[node].parent, other_numbers[row(other.nodes[node].frame)]), node);
  std::vector<std::uint32_t> same(tree.nodes.size(), no_node);
  std::vector<Weight> weights(tree.nodes.size());
  if (other.nodes.empty() || tree.nodes.empty()) return weights;
  same[0] = 0;
  weights[0] = other.nodes[0].cum;
  for (std::uint32_t node = 1; node < tree.nodes.size(); ++node) {  // Parents come first.
    const std::uint32_t parent = same[tree.nodes[node].parent];
    if (parent == no_node) continue;
    const auto found = children.find(key_of(parent, numbers[row(tree.nodes[node].frame)]));
    if (found == children.end()) continue;
    same[node] = found->second;
    weights[node] = other.nodes[found->second].cum;
  }
  return weights;
}

}  // namespace hbmscope
