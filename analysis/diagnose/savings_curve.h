// The highest point of a curve since any earlier point of it, while the curve grows at its end.
//
// It keeps only points that are not exceeded by a later one. Of the curve 5, 9, 3, 7, 4 these are 9, 7 and 4: the
// highest since the first point is 9, since the third is 7, and since the last is 4. They are ordered, so a query is a
// binary search among them. A curve that only falls keeps all its points, 32 bytes each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hbmscope {

// A heap's bytes in use after a number of events.
struct UsePoint {
  std::uint64_t in_use_bytes = 0;
  std::uint64_t position = 0;  // After that many events.
  std::int64_t time_ns = 0;    // The time of the last of these events; 0 at the start.
  friend bool operator==(const UsePoint&, const UsePoint&) = default;
};

class RisingCurve {
 public:
  void add(const UsePoint& point) {
    while (!highest_.empty() && highest_.back().point.in_use_bytes < point.in_use_bytes) highest_.pop_back();
    highest_.push_back({point, size_++});
  }
  std::uint64_t size() const { return size_; }  // Points added so far.

  // The highest of the points from number `from` on, the earliest of equal ones. Null if there is no such point.
  const UsePoint* highest_since(std::uint64_t from) const {
    if (from >= size_) return nullptr;
    const auto found = std::lower_bound(highest_.begin(), highest_.end(), from,
                                        [](const Entry& entry, std::uint64_t number) { return entry.number < number; });
    return &found->point;
  }

 private:
  struct Entry {
    UsePoint point;
    std::uint64_t number = 0;
  };
  std::vector<Entry> highest_;  // From the bottom: ascending numbers, bytes that never rise.
  std::uint64_t size_ = 0;
};

}  // namespace hbmscope
