// Device addresses are plain numbers that are never dereferenced. A range is half open, so adjacent ranges share a
// number. The last byte of the 64-bit space can't be in any range; no device uses it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hbmscope {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  // Dirty data may contain a range that ends before it begins: it has no bytes.
  constexpr bool empty() const { return end <= begin; }
  constexpr std::uint64_t size() const { return empty() ? 0 : end - begin; }
  constexpr bool contains(std::uint64_t address) const { return begin <= address && address < end; }
  constexpr bool contains(AddressRange other) const { return begin <= other.begin && other.end <= end; }
  constexpr bool overlaps(AddressRange other) const { return !intersection(other).empty(); }
  constexpr AddressRange intersection(AddressRange other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }

  friend constexpr bool operator==(AddressRange, AddressRange) = default;
};

}  // namespace hbmscope
