// Chunks of a heap that are placed already, by the times between which they live.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hbmscope::allocator::tpu {

// In a tree by begin, whose nodes know when the last one below them ends. Unbalanced by choice of the original
// (BufferIntervalTree); here leaves hang where a search by (begin, number) ends, and the tree only speeds up the
// question, so that its form does not matter for the answer.
class PlacedChunks {
 public:
  struct Chunk {
    std::int64_t begin, end;  // Both included.
    std::uint64_t offset, offset_end;
  };

  // Returns its number.
  std::int32_t add(const Chunk& chunk) {
    const auto number = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({chunk, chunk.end, -1, -1, true});
    if (number == 0) return number;
    std::int32_t at = 0;
    while (true) {
      Node& node = nodes_[static_cast<std::size_t>(at)];
      node.last_end = std::max(node.last_end, chunk.end);
      std::int32_t& next = chunk.begin < node.chunk.begin ? node.left : node.right;
      if (next < 0) {
        next = number;
        return number;
      }
      at = next;
    }
  }

  // Its node stays, without a chunk.
  void remove(std::int32_t number) { nodes_[static_cast<std::size_t>(number)].is_there = false; }

  // Those that live at any time from begin to end, both included.
  template <class Visit>
  void for_each_alive(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    if (nodes_.empty()) return;
    std::vector<std::int32_t> open = {0};
    while (!open.empty()) {
      const Node& node = nodes_[static_cast<std::size_t>(open.back())];
      open.pop_back();
      if (begin > node.last_end) continue;
      if (node.left >= 0) open.push_back(node.left);
      if (end < node.chunk.begin) continue;
      if (node.is_there && node.chunk.end >= begin) visit(node.chunk);
      if (node.right >= 0) open.push_back(node.right);
    }
  }

 private:
  struct Node {
    Chunk chunk;
    std::int64_t last_end;
    std::int32_t left, right;
    bool is_there;
  };
  std::vector<Node> nodes_;
};

}  // namespace hbmscope::allocator::tpu
