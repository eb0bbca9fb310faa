// Sorts many stacks, given as sequences of numbers, lexicographically. Equal stacks become neighbours, and each shares
// as much with a neighbour as with any other stack. One walk then yields call trees and comparisons.
//
// A million stacks of 40 frames have about 20 million different prefixes. A hash table of them took 28 s and 4 GiB;
// sorting takes 2 s, and the walk then creates a tree's nodes in memory order.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope {

class StackPaths {
 public:
  struct Path {
    std::uint64_t begin = 0;  // Index of its first symbol in symbols_.
    std::uint32_t length = 0;
    std::uint32_t owner = 0;  // Chosen by the caller: a sample's number.
  };

  void reserve(std::size_t paths, std::size_t symbols);
  void add(std::uint32_t owner, std::span<const std::uint32_t> symbols);

  // A path comes before all paths that it is a prefix of. Equal paths are in no particular but reproducible order.
  // Returns false if `cancelled` became true; the paths are then unsorted.
  bool sort(const std::atomic<bool>* cancelled = nullptr);

  std::size_t size() const { return paths_.size(); }
  std::uint32_t owner(std::size_t i) const { return paths_[i].owner; }
  std::span<const std::uint32_t> symbols(std::size_t i) const {
    return {symbols_.data() + paths_[i].begin, paths_[i].length};
  }
  // How many symbols path i has in common with the one before it; 0 for the first.
  std::size_t shared_with_previous(std::size_t i) const;

 private:
  // 0 past the end of a path, so that the shorter one comes first.
  std::uint64_t symbol(const Path& path, std::uint32_t depth) const {
    return depth < path.length ? std::uint64_t{symbols_[path.begin + depth]} + 1 : 0;
  }
  bool before(const Path& a, const Path& b, std::uint32_t depth) const;
  std::uint64_t choose_pivot(std::size_t begin, std::size_t end, std::uint32_t depth);

  std::vector<std::uint32_t> symbols_;
  std::vector<Path> paths_;
  std::uint64_t random_ = 0;  // Fixed seed: the order of equal paths must not change from run to run.
};

}  // namespace hbmscope
