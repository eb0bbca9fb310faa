// The ids of stacks by parent and frame, numbered from 1. Sources define a stack for each span or event, nearly always
// one that is known already. So this is one flat array, which takes half the time of std::unordered_map (xspace_bench).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbmscope::wire {

class StackIds {
 public:
  struct Found {
    std::uint32_t id = 0;
    bool is_new = false;
  };
  Found find_or_add(std::uint32_t parent, std::uint32_t frame) {
    const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
    std::size_t place = place_of(key);
    if (entries_[place].id != 0) return {entries_[place].id, false};
    if ((used_ + 1) * 2 > entries_.size()) {
      grow();
      place = place_of(key);
    }
    entries_[place] = {key, ++used_};
    return {used_, true};
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t id = 0;  // 0: empty.
  };

  // Linear probing from a Fibonacci hash.
  std::size_t place_of(std::uint64_t key) const {
    const std::uint64_t mixed = (key ^ key >> 29) * 0x9e3779b97f4a7c15U;
    std::size_t place = static_cast<std::size_t>(mixed >> 32) & (entries_.size() - 1);
    while (entries_[place].id != 0 && entries_[place].key != key) place = (place + 1) & (entries_.size() - 1);
    return place;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.id != 0) entries_[place_of(entry.key)] = entry;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(64);  // A power of two, at most half full.
  std::uint32_t used_ = 0;
};

}  // namespace hbmscope::wire
