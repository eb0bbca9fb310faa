// The largest of many changing numbers, exact after every change: the root of a tree of maxima with eight children per
// node.
//
// A pool of 64 GiB has some thousand free blocks, and each event changes one or two of them. Most changes are far below
// the maximum of their group of eight and end there. Only when the largest of its eight shrinks do its seven siblings
// have to be compared, level by level. Bins of similar sizes are as fast on average, but if all free blocks of a pool
// fall into the top bin, every event walks the whole bin. Here each level compares at most eight numbers, and two
// million free blocks need seven levels.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hbmscope {

class LargestOfMany {
 public:
  LargestOfMany() { grow(64); }

  std::uint64_t largest() const { return values_[root_]; }  // 0 if there is none.
  std::size_t count() const { return leaves_used_ - unused_.size(); }

  // Returns the new number's place. Places are reused.
  std::uint32_t add(std::uint64_t value) {
    std::uint32_t place = 0;
    if (!unused_.empty()) {
      place = unused_.back();
      unused_.pop_back();
    } else {
      if (leaves_used_ == leaves_) grow(leaves_ * 2);
      place = leaves_used_++;
    }
    set(place, value);
    return place;
  }

  void reserve(std::size_t numbers) {
    if (numbers > leaves_) grow(static_cast<std::uint32_t>(std::bit_ceil(numbers)));
  }

  // Appends many numbers in order, to new places that start at first_new_place().
  std::uint32_t first_new_place() const { return leaves_used_; }
  void append(std::span<const std::uint64_t> values) {
    if (values.empty()) return;
    reserve(leaves_used_ + values.size());
    std::copy(values.begin(), values.end(), values_.begin() + leaves_used_);
    std::uint32_t first = leaves_used_;
    leaves_used_ += static_cast<std::uint32_t>(values.size());
    std::uint32_t last = leaves_used_ - 1;
    for (std::uint32_t level = 1; level <= depth_; ++level) {
      first >>= 3;
      last >>= 3;
      for (std::uint32_t node = first; node <= last; ++node)
        values_[starts_[level] + node] = largest_of_eight(values_.data() + starts_[level - 1] + node * std::size_t{8});
    }
  }

  void remove(std::uint32_t place) {
    set(place, 0);
    unused_.push_back(place);
  }

  void set(std::uint32_t place, std::uint64_t value) {
    std::uint64_t old = values_[place];
    values_[place] = value;
    for (std::uint32_t level = 1; level <= depth_; ++level) {
      const std::uint64_t* siblings = values_.data() + starts_[level - 1] + (place & ~std::uint32_t{7});
      place >>= 3;
      std::uint64_t& node = values_[starts_[level] + place];
      if (value <= node) {
        if (old != node || value == node) return;
        value = largest_of_eight(siblings);
        if (value == node) return;
      }
      old = node;
      node = value;
    }
  }

  void clear() {
    std::fill(values_.begin(), values_.end(), 0);
    unused_.clear();
    leaves_used_ = 0;
  }

 private:
  static std::uint64_t largest_of_eight(const std::uint64_t* at) {
    const std::uint64_t a = std::max(at[0], at[1]), b = std::max(at[2], at[3]);
    const std::uint64_t c = std::max(at[4], at[5]), d = std::max(at[6], at[7]);
    return std::max(std::max(a, b), std::max(c, d));
  }

  // `leaves` must be a power of two.
  void grow(std::uint32_t leaves) {
    std::vector<std::uint64_t> old(values_.begin(), values_.begin() + leaves_);
    // Every level is padded to whole nodes, so reading siblings needs no bounds check.
    std::uint32_t total = 0, width = leaves;
    for (depth_ = 0;; ++depth_) {
      starts_[depth_] = total;
      total += (width + 7) / 8 * 8;
      if (width == 1) break;
      width = (width + 7) / 8;
    }
    root_ = starts_[depth_];
    leaves_ = leaves;
    values_.assign(total, 0);
    for (std::uint32_t place = 0; place < old.size(); ++place) set(place, old[place]);
  }

  std::vector<std::uint64_t> values_;       // All levels, the numbers themselves first.
  std::array<std::uint32_t, 12> starts_{};  // Where each level starts in values_. 8^11 exceeds any number of places.
  std::uint32_t depth_ = 0, root_ = 0, leaves_ = 0, leaves_used_ = 0;
  std::vector<std::uint32_t> unused_;  // Used as a stack: the last freed place is still in the cache.
};

}  // namespace hbmscope
