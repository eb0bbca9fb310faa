// The highest bytes in use in each of up to 1,024 equal intervals. The total duration need not be known: when there
// would be too many intervals, each becomes twice as long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbmscope {

class UseCurve {
 public:
  static constexpr std::size_t stretches_max = 1024;

  // `place`: a time, or a position if there are no times. A place that steps back counts as the last one.
  void add(std::int64_t place, std::uint64_t in_use) {
    if (highest_.empty()) {
      highest_.reserve(stretches_max);
      highest_.push_back(0);
      begin_ = last_ = place;
    }
    last_ = std::max(last_, place);
    const std::uint64_t distance = static_cast<std::uint64_t>(last_) - static_cast<std::uint64_t>(begin_);
    while (distance >> shift_ >= stretches_max) join_pairs();
    while (highest_.size() <= distance >> shift_) highest_.push_back(now_);
    highest_.back() = std::max(highest_.back(), in_use);
    now_ = in_use;
  }
  // Moves everything so far to this place.
  void gather_at(std::int64_t place) {
    if (empty()) return;
    highest_ = {*std::max_element(highest_.begin(), highest_.end())};
    begin_ = last_ = place;
    shift_ = 0;
  }

  bool empty() const { return highest_.empty(); }
  std::uint64_t now() const { return now_; }  // After the last one, where the last interval ends.
  // visit(first place, last place, highest). The last interval ends at the last place.
  template <class Visit>
  void for_each_stretch(const Visit& visit) const {
    for (std::size_t i = 0; i < highest_.size(); ++i) {
      const bool is_last = i + 1 == highest_.size();
      visit(place_of(i), is_last ? last_ : place_of(i + 1) - 1, highest_[i]);
    }
  }

 private:
  std::int64_t place_of(std::size_t stretch) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(begin_) + (std::uint64_t{stretch} << shift_));
  }
  void join_pairs() {
    const std::size_t pairs = (highest_.size() + 1) / 2;
    for (std::size_t i = 0; i < pairs; ++i)
      highest_[i] = std::max(highest_[2 * i], highest_[std::min(2 * i + 1, highest_.size() - 1)]);
    highest_.resize(pairs);
    ++shift_;
  }

  std::vector<std::uint64_t> highest_;
  std::int64_t begin_ = 0, last_ = 0;
  unsigned shift_ = 0;  // An interval has the length 2^shift.
  std::uint64_t now_ = 0;
};

}  // namespace hbmscope
