// The stacks of a view merged into a tree: from the outermost frame down (callees), or from the innermost up (callers,
// "bottom-up"). Node 0 is the root and represents everything selected; children are sorted by bytes, largest first,
// then by name.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/query/profile_view.h"

namespace hbmscope {

enum class TreeDirection { callees, callers };

inline constexpr std::uint32_t no_node = 0xffffffff;

struct TreeNode {
  FrameIndex frame = FrameIndex::none;  // none: the root.
  std::uint32_t parent = no_node, first_child = no_node, next_sibling = no_node;
  std::uint32_t depth = 0;  // 0 for the root.
  Weight flat, cum;         // flat: of stacks that end here.
};

struct CallTree {
  TreeDirection direction = TreeDirection::callees;
  std::vector<TreeNode> nodes;
  std::uint32_t max_depth = 0;

  // From the child of the root down to `node`.
  std::vector<FrameIndex> path(std::uint32_t node) const;
};

// Returns nothing if `cancelled` became true (checked every few thousand samples). `fold_library` merges each run of
// library frames below a frame of the user into one node, named after the outermost, and leaves out the calls of
// PyTorch's modules between them.
std::optional<CallTree> compute_call_tree(const ProfileView& view, TreeDirection direction, bool fold_library = false,
                                          const std::atomic<bool>* cancelled = nullptr);

// By node of the tree: what the same path has in another tree of the same direction and folding, 0 where it is not
// there. Frames are the same if their functions and file names are, by line also their lines.
std::vector<Weight> find_same_paths(const ProfileView& view, const CallTree& tree, const ProfileView& other_view,
                                    const CallTree& other);

}  // namespace hbmscope
