// Which slot holds the block at an address: what a writer needs so that a free can name a slot instead of an address.
//
// Open addressing with linear probing and backward shifts, one flat array: a match costs about 13 ns at ten thousand
// live blocks where std::unordered_map takes 38. The reader assigns the same slots by the same rule (the slot freed
// last is taken first), so slots never travel with allocations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace hbmscope::wire {

class LiveTable {
 public:
  LiveTable() : entries_(64) {}

  struct Taken {
    std::uint32_t slot = 0;
    bool was_live = false;  // A block lives there already: its free was missed, and its slot is used on.
  };
  Taken take(std::uint32_t heap, std::uint64_t address) { return take(heap, address, free_slots_); }
  // For a block of a listing: its row names the slot, and no reader takes a free one for it. So it gets one
  // that a heap had before it was listed anew, else the next new one.
  Taken take_listed(std::uint32_t heap, std::uint64_t address) { return take(heap, address, retired_slots_); }

  std::optional<std::uint32_t> find(std::uint32_t heap, std::uint64_t address) const {
    const Entry& entry = entries_[find_place(heap, address)];
    if (entry.slot_plus_1 == 0) return std::nullopt;
    return entry.slot_plus_1 - 1;
  }

  // Brings what the calls with this address will look at into the cache. Inlined by force: a function that only
  // prefetches has no effect to GCC 12, which drops calls of it.
  [[gnu::always_inline]] void prefetch(std::uint32_t heap, std::uint64_t address) const {
    __builtin_prefetch(&entries_[home_of(heap, address)], 1);
  }

  std::optional<std::uint32_t> give_back(std::uint32_t heap, std::uint64_t address) {
    const auto slot = remove(heap, address);
    if (slot) free_slots_.push_back(*slot);
    return slot;
  }

  // The block at `from` keeps its slot. Nothing may live at `to`.
  std::optional<std::uint32_t> move(std::uint32_t heap, std::uint64_t from, std::uint64_t to) {
    const auto slot = remove(heap, from);
    if (!slot) return std::nullopt;
    entries_[find_place(heap, to)] = {to, heap, *slot + 1};
    ++used_;
    return slot;
  }

  // A heap (0: all) is about to be listed anew, or gone. Readers empty its slots and do not take them as free.
  void retire_heap(std::uint32_t heap) {
    std::vector<Entry> old(entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.slot_plus_1 == 0) continue;
      if (entry.heap == heap || heap == 0) {
        retired_slots_.push_back(entry.slot_plus_1 - 1);
        --used_;
      } else {
        entries_[find_place(entry.heap, entry.address)] = entry;
      }
    }
    // Taken from the end: rows with ascending slots take the fewest bytes.
    std::sort(retired_slots_.begin(), retired_slots_.end(), std::greater<>());
  }

  std::size_t live() const { return used_; }
  std::uint32_t slot_count() const { return slot_count_; }
  const std::vector<std::uint32_t>& free_slots() const { return free_slots_; }  // The last one is taken first.
  // Those that hold a block, in no order.
  template <class Visit>
  void for_each_taken(const Visit& visit) const {
    for (const Entry& entry : entries_)
      if (entry.slot_plus_1 != 0) visit(entry.slot_plus_1 - 1);
  }

 private:
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t heap = 0;
    std::uint32_t slot_plus_1 = 0;  // 0: empty.
  };

  Taken take(std::uint32_t heap, std::uint64_t address, std::vector<std::uint32_t>& slots) {
    if ((used_ + 1) * 2 > entries_.size()) grow();
    Entry& entry = entries_[find_place(heap, address)];
    if (entry.slot_plus_1 != 0) return {entry.slot_plus_1 - 1, true};
    std::uint32_t slot = slot_count_;
    if (slots.empty()) {
      ++slot_count_;
    } else {
      slot = slots.back();
      slots.pop_back();
    }
    ++used_;
    entry = {address, heap, slot + 1};
    return {slot, false};
  }

  std::optional<std::uint32_t> remove(std::uint32_t heap, std::uint64_t address) {
    std::size_t hole = find_place(heap, address);
    if (entries_[hole].slot_plus_1 == 0) return std::nullopt;
    const std::uint32_t slot = entries_[hole].slot_plus_1 - 1;
    --used_;
    // Entries behind the hole move up unless they stand between their own place and it.
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t next = (hole + 1) & mask; entries_[next].slot_plus_1 != 0; next = (next + 1) & mask) {
      const std::size_t home = home_of(entries_[next].heap, entries_[next].address);
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      entries_[hole] = entries_[next];
      hole = next;
    }
    entries_[hole] = {};
    return slot;
  }

  std::size_t home_of(std::uint32_t heap, std::uint64_t address) const {
    // Addresses are multiples of 256 and more; the multiplication carries their high bits down (Fibonacci hashing).
    const std::uint64_t mixed = (address ^ static_cast<std::uint64_t>(heap) << 56) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>((mixed ^ mixed >> 32) & (entries_.size() - 1));
  }
  std::size_t find_place(std::uint32_t heap, std::uint64_t address) const {
    std::size_t place = home_of(heap, address);
    while (entries_[place].slot_plus_1 != 0 && (entries_[place].address != address || entries_[place].heap != heap))
      place = (place + 1) & (entries_.size() - 1);
    return place;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.slot_plus_1 != 0) entries_[find_place(entry.heap, entry.address)] = entry;
  }

  std::vector<Entry> entries_;  // A power of two, at most half full.
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> retired_slots_;  // Of blocks that a new listing of their heap has wiped out.
  std::size_t used_ = 0;
  std::uint32_t slot_count_ = 0;
};

}  // namespace hbmscope::wire
