// Stacks as paths in a tree of integers: the one structure behind call trees and comparisons. A node is found by its
// parent and a symbol; nodes are numbered in the order of their making, so that a parent's number is smaller than
// its children's and sums can be carried upwards in one backward pass.
#pragma once

#include <cstdint>
#include <vector>

namespace hbmscope {

class StackTrie {
 public:
  static constexpr std::uint32_t root = 0;

  struct Node {
    std::uint32_t parent, symbol;
  };

  StackTrie() : nodes_{{0, 0}} { grow(1024); }

  std::uint32_t child(std::uint32_t parent, std::uint32_t symbol) {
    const std::uint64_t key = std::uint64_t{parent} << 32 | symbol;
    for (std::size_t slot = hash(key) & mask_;; slot = (slot + 1) & mask_) {
      const Slot& there = slots_[slot];
      if (there.node == 0) return add(key, slot);
      if (there.key == key) return there.node;
    }
  }

  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t node = 0;  // 0: free; the root is nobody's child.
  };

  static std::size_t hash(std::uint64_t key) {
    key *= 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(key ^ (key >> 32));
  }

  std::uint32_t add(std::uint64_t key, std::size_t slot) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)});
    slots_[slot] = {key, node};
    if (nodes_.size() * 2 > slots_.size()) grow(slots_.size() * 2);
    return node;
  }

  void grow(std::size_t size) {
    std::vector<Slot> old(size);
    old.swap(slots_);
    mask_ = size - 1;
    for (const Slot& there : old) {
      if (there.node == 0) continue;
      std::size_t slot = hash(there.key) & mask_;
      while (slots_[slot].node != 0) slot = (slot + 1) & mask_;
      slots_[slot] = there;
    }
  }

  std::vector<Node> nodes_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

}  // namespace hbmscope
