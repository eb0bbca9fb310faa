// A hash table from an address to the free block that begins there. Open addressing in one array; removal leaves no
// tombstones (later entries move up), so a table that was once full is as fast as a new one when it is empty again.
//
// Addresses are multiples of 256 B, of 2 MiB, of 20 MiB. Multiplying by an odd number and keeping the upper bits
// such steps evenly; the test checks this for steps of every power of two, and for some others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbmscope {

class AddressTable {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  AddressTable() : entries_(16) {}

  // The address's slot in the table, or where the search for it ended. Valid until the next change.
  using Slot = std::size_t;
  Slot find(std::uint64_t address) const {
    Slot at = home(address);
    while (entries_[at].value != none && entries_[at].address != address) at = after(at);
    return at;
  }
  std::uint32_t value(Slot slot) const { return entries_[slot].value; }  // none if find() found nothing.

  // Always inlined: see AddressSpace::prefetch.
  [[gnu::always_inline]] void prefetch(std::uint64_t address) const { __builtin_prefetch(&entries_[home(address)]); }

  // The address must not be in the table.
  void insert(std::uint64_t address, std::uint32_t value) {
    if (++used_ * 4 > entries_.size()) grow();
    place({address, value});
  }

  void reserve(std::size_t addresses) {
    if (addresses * 4 > entries_.size()) grow_to(std::bit_ceil(addresses * 4));
  }
  // Inserts many, in any order; prefetches the slots of the next ones.
  template <class Pairs>
  void insert_all(const Pairs& addresses_and_values) {
    constexpr std::size_t ahead = 8;
    reserve(used_ + addresses_and_values.size());
    for (std::size_t i = 0; i < addresses_and_values.size(); ++i) {
      if (i + ahead < addresses_and_values.size())
        __builtin_prefetch(&entries_[home(addresses_and_values[i + ahead].first)], 1);
      insert(addresses_and_values[i].first, addresses_and_values[i].second);
    }
  }

  // The slot must hold an address.
  void erase_at(Slot hole) {
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t at = after(hole); entries_[at].value != none; at = after(at)) {
      // An entry may move up as long as it does not pass its home slot.
      if (((at - home(entries_[at].address)) & mask) < ((at - hole) & mask)) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].value = none;
    --used_;
  }

  void clear() {
    entries_.assign(entries_.size(), Entry{});
    used_ = 0;
  }

  std::size_t size() const { return used_; }

  // In no particular order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Entry& entry : entries_)
      if (entry.value != none) visit(entry.address, entry.value);
  }

  // The longest distance of an entry from its home slot; for the tests.
  std::size_t distance_max() const {
    std::size_t distance = 0;
    for (std::size_t at = 0; at < entries_.size(); ++at)
      if (entries_[at].value != none)
        distance = std::max(distance, (at - home(entries_[at].address)) & (entries_.size() - 1));
    return distance;
  }

 private:
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t value = none;
  };

  std::size_t after(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
  std::size_t home(std::uint64_t address) const { return (address * 0x9e3779b97f4a7c15) >> shift_; }

  void place(Entry entry) {
    std::size_t at = home(entry.address);
    while (entries_[at].value != none) at = after(at);
    entries_[at] = entry;
  }

  void grow() { grow_to(entries_.size() * 2); }
  // `entries` must be a power of two.
  void grow_to(std::size_t entries) {
    std::vector<Entry> old(entries);
    old.swap(entries_);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(entries));
    for (const Entry& entry : old)
      if (entry.value != none) place(entry);
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  unsigned shift_ = 60;  // 64 minus the binary logarithm of the number of entries.
};

}  // namespace hbmscope
