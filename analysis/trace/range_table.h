// Non-overlapping address ranges per heap, each with a value: mappings, reservations. Cutting out a part of a range
// leaves its ends.
#pragma once

#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>

#include "analysis/model/address_range.h"

namespace hbmscope {

// `Value after(std::uint64_t bytes) const` returns the value for the rest of a range after that many bytes.
template <class Value>
class RangeTable {
 public:
  // The range must be free (call cut() first) and not empty.
  void add(std::uint32_t heap, AddressRange range, const Value& value) {
    ranges_.insert_or_assign(Key{heap, range.begin}, Entry{range.end, value});
  }

  // Removes everything in the range, and returns how many bytes were removed. Calls `after_cut(value, ends)` or
  // `after_cut(value, ends, part)` for each affected range: how many of its ends (0, 1, 2) remain, and the removed
  // part.
  template <class AfterCut>
  std::uint64_t cut(std::uint32_t heap, AddressRange range, const AfterCut& after_cut) {
    std::uint64_t bytes = 0;
    auto at = ranges_.lower_bound({heap, range.begin});
    if (at != ranges_.begin()) {
      const auto before = std::prev(at);
      if (before->first.first == heap && before->second.end > range.begin) at = before;
    }
    while (at != ranges_.end() && at->first.first == heap && at->first.second < range.end) {
      const AddressRange whole{at->first.second, at->second.end};
      const Value value = at->second.value;
      const AddressRange part = whole.intersection(range);
      if (part.empty()) break;
      at = ranges_.erase(at);
      if (whole.begin < part.begin) add(heap, {whole.begin, part.begin}, value);
      if (part.end < whole.end) add(heap, {part.end, whole.end}, value.after(part.end - whole.begin));
      bytes += part.size();
      const std::uint32_t ends = (whole.begin < part.begin ? 1U : 0U) + (part.end < whole.end ? 1U : 0U);
      if constexpr (std::is_invocable_v<AfterCut, const Value&, std::uint32_t, AddressRange>)
        after_cut(value, ends, part);
      else
        after_cut(value, ends);
    }
    return bytes;
  }

  // Ascending, heap by heap: `visit(heap, range, value)`.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [key, entry] : ranges_) visit(key.first, AddressRange{key.second, entry.end}, entry.value);
  }
  std::size_t size() const { return ranges_.size(); }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // Heap, begin.
  struct Entry {
    std::uint64_t end = 0;
    Value value{};
  };
  std::map<Key, Entry> ranges_;
};

}  // namespace hbmscope
