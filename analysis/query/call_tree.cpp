#include "analysis/query/call_tree.h"

#include <algorithm>

#include "analysis/query/stack_trie.h"

namespace hbmscope {
namespace {

// The visible frames of a sample in the direction of the tree.
void collect_path(const ProfileView& view, std::uint32_t sample, TreeDirection direction, bool fold_library,
                  std::vector<FrameIndex>& path) {
  path.clear();
  for (const LocationIndex location : view.stack(sample))
    for (const FrameIndex frame : view.frames_of(location)) path.push_back(frame);
  if (direction == TreeDirection::callees) std::reverse(path.begin(), path.end());
  if (!fold_library) return;
  bool previous_is_library = false;
  std::erase_if(path, [&](FrameIndex frame) {
    const bool is_library = view.frames[row(frame)].is_library;
    const bool folded = is_library && previous_is_library;
    previous_is_library = is_library;
    return folded;
  });
}

// Sorts every node's children, largest first, and links them.
void link_children(const ProfileView& view, std::vector<TreeNode>& nodes) {
  std::vector<std::uint32_t> begin(nodes.size() + 1), children(nodes.size() - 1);
  for (std::size_t i = 1; i < nodes.size(); ++i) ++begin[nodes[i].parent + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 1; i < nodes.size(); ++i) children[next[nodes[i].parent]++] = static_cast<std::uint32_t>(i);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const TreeNode &na = nodes[a], &nb = nodes[b];
    if (na.cum.bytes != nb.cum.bytes) return na.cum.bytes > nb.cum.bytes;
    if (na.cum.count != nb.cum.count) return na.cum.count > nb.cum.count;
    const Frame &fa = view.frames[row(na.frame)], &fb = view.frames[row(nb.frame)];
    if (fa.function != fb.function) return fa.function < fb.function;
    return na.frame < nb.frame;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto first = children.begin() + begin[i], last = children.begin() + begin[i + 1];
    std::sort(first, last, before);
    std::uint32_t* link = &nodes[i].first_child;
    for (auto child = first; child != last; ++child) {
      *link = *child;
      link = &nodes[*child].next_sibling;
    }
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
  StackTrie trie;
  std::vector<Weight> flat(1);
  std::vector<FrameIndex> path;
  std::vector<FrameIndex> previous_path;
  std::vector<std::uint32_t> previous_nodes;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    if (i % 4096 == 0 && cancelled != nullptr && *cancelled) return std::nullopt;
    const std::uint32_t sample = view.sample(i);
    collect_path(view, sample, direction, fold_library, path);
    // Neighbouring samples share most of their outer frames: begin where they part.
    const auto parted = std::mismatch(path.begin(), path.end(), previous_path.begin(), previous_path.end());
    const auto shared = static_cast<std::size_t>(parted.first - path.begin());
    previous_nodes.resize(shared);
    std::uint32_t node = shared == 0 ? StackTrie::root : previous_nodes.back();
    for (std::size_t k = shared; k < path.size(); ++k) {
      node = trie.child(node, static_cast<std::uint32_t>(path[k]));
      previous_nodes.push_back(node);
    }
    previous_path.swap(path);
    if (flat.size() < trie.nodes().size()) flat.resize(std::max(trie.nodes().size(), flat.size() * 2));
    flat[node] += view.weight(sample);
  }

  CallTree tree;
  tree.direction = direction;
  tree.nodes.resize(trie.nodes().size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    TreeNode& node = tree.nodes[i];
    node.flat = node.cum = flat[i];
    if (i == 0) continue;
    node.parent = trie.nodes()[i].parent;
    node.frame = static_cast<FrameIndex>(trie.nodes()[i].symbol);
    node.depth = tree.nodes[node.parent].depth + 1;
    tree.max_depth = std::max(tree.max_depth, node.depth);
  }
  for (std::size_t i = tree.nodes.size(); i-- > 1;) tree.nodes[tree.nodes[i].parent].cum += tree.nodes[i].cum;
  link_children(view, tree.nodes);
  return tree;
}

}  // namespace hbmscope
