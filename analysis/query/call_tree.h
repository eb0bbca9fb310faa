// The stacks of a view merged into a tree: from the outermost frame down (callees), or from the innermost up (callers,
// "bottom-up"). Node 0 is the root, which stands for everything selected; children are sorted by bytes, the largest
// first, then by name.
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
  std::uint32_t depth = 0;  // The root's is 0.
  Weight flat, cum;         // flat: of stacks that end here.
};

struct CallTree {
  TreeDirection direction = TreeDirection::callees;
  std::vector<TreeNode> nodes;
  std::uint32_t max_depth = 0;

  // From the child of the root down to `node`.
  std::vector<FrameIndex> path(std::uint32_t node) const;
};

// Nothing where `cancelled` became true meanwhile (looked at every few thousand samples).
// `fold_library` joins runs of library frames below a user's frame to one node of the outermost of them.
std::optional<CallTree> compute_call_tree(const ProfileView& view, TreeDirection direction, bool fold_library = false,
                                          const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope
