// A hash table that stores only row numbers; the caller knows the rows and compares them. It is one array without an
// allocation per row, because every view names thousands of frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbmscope {

class FlatIndex {
 public:
  explicit FlatIndex(std::size_t expected_rows = 0) {
    std::size_t slots = 64;
    while (slots < expected_rows * 2) slots *= 2;
    slots_.resize(slots);
  }

  // Returns the row for which `is_equal(row)` holds, or adds `next`. `hash` must be well mixed in its low bits.
  template <class IsEqual>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next, const IsEqual& is_equal) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot].row_plus_1 != 0; slot = (slot + 1) & mask)
      if (slots_[slot].hash == hash && is_equal(slots_[slot].row_plus_1 - 1)) return slots_[slot].row_plus_1 - 1;
    slots_[slot] = {hash, next + 1};
    if (++used_ * 2 > slots_.size()) grow();
    return next;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t row_plus_1 = 0;  // 0: free.
  };

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& there : old) {
      if (there.row_plus_1 == 0) continue;
      std::size_t slot = there.hash & mask;
      while (slots_[slot].row_plus_1 != 0) slot = (slot + 1) & mask;
      slots_[slot] = there;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace hbmscope
