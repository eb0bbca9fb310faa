// The chunks of a heap that are already placed, indexed by their lifetimes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hbmscope::allocator::tpu {

// A tree ordered by begin, in which each node knows the latest end in its subtree. It only speeds up queries: its shape
// does not affect the answers. The original's tree (BufferIntervalTree) is deliberately unbalanced, so a program with a
// hundred thousand equal values would turn it into a list. Here each node draws a random rank and is above nodes with
// smaller ranks (a treap).
class PlacedChunks {
 public:
  struct Chunk {
    std::int64_t begin, end;  // Both inclusive.
    std::uint64_t offset, offset_end;
  };

  // Returns its number.
  std::int32_t add(const Chunk& chunk) {
    const auto number = static_cast<std::int32_t>(nodes_.size());
    drawn_ = drawn_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX; its high bits are the random ones.
    nodes_.push_back({chunk, chunk.end, -1, -1, static_cast<std::uint32_t>(drawn_ >> 32), true});
    std::int32_t* place = &root_;
    while (*place >= 0 && node(*place).rank >= nodes_.back().rank) {
      Node& above = node(*place);
      above.last_end = std::max(above.last_end, chunk.end);
      place = chunk.begin < above.chunk.begin ? &above.left : &above.right;
    }
    split(*place, chunk.begin, nodes_.back().left, nodes_.back().right);
    *place = number;
    renew(nodes_.back());
    return number;
  }

  // The node stays, without a chunk.
  void remove(std::int32_t number) { nodes_[static_cast<std::size_t>(number)].is_there = false; }

  // Visits the chunks that are live at any time from begin to end, both inclusive. Returns the number of nodes visited.
  template <class Visit>
  std::uint64_t for_each_alive(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    std::uint64_t looked_at = 0;
    std::vector<std::int32_t> open;
    if (root_ >= 0) open.push_back(root_);
    while (!open.empty()) {
      const Node& node = nodes_[static_cast<std::size_t>(open.back())];
      open.pop_back();
      ++looked_at;
      if (begin > node.last_end) continue;
      if (node.left >= 0) open.push_back(node.left);
      if (end < node.chunk.begin) continue;
      if (node.is_there && node.chunk.end >= begin) visit(node.chunk);
      if (node.right >= 0) open.push_back(node.right);
    }
    return looked_at;
  }

 private:
  struct Node {
    Chunk chunk;
    std::int64_t last_end;
    std::int32_t left, right;
    std::uint32_t rank;
    bool is_there;
  };
  Node& node(std::int32_t number) { return nodes_[static_cast<std::size_t>(number)]; }

  void renew(Node& of) {
    of.last_end = of.chunk.end;
    for (const std::int32_t below : {of.left, of.right})
      if (below >= 0) of.last_end = std::max(of.last_end, node(below).last_end);
  }
  // Chunks that begin at `begin` or earlier go to `left`, later ones to `right`.
  void split(std::int32_t tree, std::int64_t begin, std::int32_t& left, std::int32_t& right) {
    if (tree < 0) {
      left = right = -1;
      return;
    }
    Node& top = node(tree);
    if (begin < top.chunk.begin) {
      split(top.left, begin, left, top.left);
      right = tree;
    } else {
      split(top.right, begin, top.right, right);
      left = tree;
    }
    renew(top);
  }

  std::vector<Node> nodes_;
  std::int32_t root_ = -1;
  std::uint64_t drawn_ = 1;
};

}  // namespace hbmscope::allocator::tpu
