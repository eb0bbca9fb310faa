// Sets that only ever grow together (union-find): which of the numbers 0, 1, ... belong to one another.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace hbmscope::hlo {

class JoinedSets {
 public:
  explicit JoinedSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }

  // The smallest number of its set.
  std::uint32_t find(std::uint32_t number) {
    while (parent_[number] != number) number = parent_[number] = parent_[parent_[number]];
    return number;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[a < b ? b : a] = a < b ? a : b;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace hbmscope::hlo
