// The minimum cost of keeping a heap's state: boundary tags, a hash of free blocks, size bins and a bitmap, written
// directly. One region, no checks. Shares no code with analysis/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <vector>

#include "tests/bench/heap_events.h"

namespace hbmscope::bench {

class BoundaryTagFloor {
 public:
  explicit BoundaryTagFloor(std::size_t live = usual_live)
      : chunks_(1),
        table_(table_entries_for(live)),
        shift_(64 - static_cast<unsigned>(std::bit_width(table_.size() - 1))) {
    std::fill(std::begin(bins_), std::end(bins_), none);
    chunks_[0] = {0, heap_bytes_for(live), none, none, none, none};
    add_free(0);
  }

  uint32_t take(uint64_t address, uint64_t size) {
    const uint32_t free = table_[find(address)].chunk;
    remove_free(free);
    if (chunks_[free].size == size) {
      chunks_[free].bin_next = taken;
      return free;
    }
    const uint32_t rest = new_chunk();
    Chunk& block = chunks_[free];
    chunks_[rest] = {address + size, block.size - size, free, block.next, none, none};
    if (block.next != none) chunks_[block.next].previous = rest;
    block.next = rest;
    block.size = size;
    block.bin_next = taken;
    add_free(rest);
    return free;
  }
  void give_back(uint32_t at) {
    const uint32_t next = chunks_[at].next, previous = chunks_[at].previous;
    if (next != none && chunks_[next].bin_next != taken) {
      remove_free(next);
      swallow(at, next);
    }
    if (previous != none && chunks_[previous].bin_next != taken) {
      remove_free(previous);
      swallow(previous, at);
      at = previous;
    }
    add_free(at);
  }
  uint64_t largest() {
    if (largest_ != 0) return largest_;
    if (words_ == 0) return 0;
    const unsigned word = 31 - static_cast<unsigned>(std::countl_zero(words_));
    const unsigned bin = word * 64 + 63 - static_cast<unsigned>(std::countl_zero(bits_[word]));
    for (uint32_t at = bins_[bin]; at != none; at = chunks_[at].bin_next)
      largest_ = std::max(largest_, chunks_[at].size);
    return largest_;
  }

 private:
  static constexpr uint32_t taken = 0xfffffffe;
  struct Chunk {
    uint64_t address, size;
    uint32_t previous, next, bin_previous, bin_next;
  };
  struct Slot {
    uint64_t address = 0;
    uint32_t chunk = none;
  };

  static unsigned bin_of(uint64_t size) {
    const auto log = static_cast<unsigned>(std::bit_width(size | 1)) - 1;
    return log * 16 + static_cast<unsigned>((size << 4 >> log) & 15);
  }
  std::size_t home(uint64_t address) const { return (address * 0x9e3779b97f4a7c15) >> shift_; }
  std::size_t mask() const { return table_.size() - 1; }
  std::size_t find(uint64_t address) const {
    std::size_t at = home(address);
    while (table_[at].address != address || table_[at].chunk == none) at = (at + 1) & mask();
    return at;
  }
  void add_free(uint32_t at) {
    Chunk& chunk = chunks_[at];
    const unsigned bin = bin_of(chunk.size);
    chunk.bin_previous = none;
    chunk.bin_next = bins_[bin];
    if (bins_[bin] != none) chunks_[bins_[bin]].bin_previous = at;
    bins_[bin] = at;
    bits_[bin / 64] |= uint64_t{1} << bin % 64;
    words_ |= uint32_t{1} << bin / 64;
    if (largest_ != 0) largest_ = std::max(largest_, chunk.size);
    std::size_t slot = home(chunk.address);
    while (table_[slot].chunk != none) slot = (slot + 1) & mask();
    table_[slot] = {chunk.address, at};
  }
  void remove_free(uint32_t at) {
    Chunk& chunk = chunks_[at];
    const unsigned bin = bin_of(chunk.size);
    if (chunk.bin_next != none) chunks_[chunk.bin_next].bin_previous = chunk.bin_previous;
    if (chunk.bin_previous != none) {
      chunks_[chunk.bin_previous].bin_next = chunk.bin_next;
    } else {
      bins_[bin] = chunk.bin_next;
      if (chunk.bin_next == none) {
        bits_[bin / 64] &= ~(uint64_t{1} << bin % 64);
        if (bits_[bin / 64] == 0) words_ &= ~(uint32_t{1} << bin / 64);
      }
    }
    if (chunk.size == largest_) largest_ = 0;
    std::size_t hole = find(chunk.address);
    for (std::size_t slot = (hole + 1) & mask(); table_[slot].chunk != none; slot = (slot + 1) & mask()) {
      if (((slot - home(table_[slot].address)) & mask()) < ((slot - hole) & mask())) continue;
      table_[hole] = table_[slot];
      hole = slot;
    }
    table_[hole].chunk = none;
  }
  uint32_t new_chunk() {
    if (unused_.empty()) {
      chunks_.emplace_back();
      return static_cast<uint32_t>(chunks_.size() - 1);
    }
    const uint32_t chunk = unused_.back();
    unused_.pop_back();
    return chunk;
  }
  void swallow(uint32_t at, uint32_t next) {
    chunks_[at].size += chunks_[next].size;
    chunks_[at].next = chunks_[next].next;
    if (chunks_[next].next != none) chunks_[chunks_[next].next].previous = at;
    unused_.push_back(next);
  }

  std::vector<Chunk> chunks_;
  std::vector<Slot> table_;  // Far larger than the free chunks need, so it never grows.
  unsigned shift_;
  std::vector<uint32_t> unused_;
  uint32_t bins_[1024];
  uint64_t bits_[16] = {};
  uint32_t words_ = 0;
  uint64_t largest_ = 0;  // 0: must be searched for.
};

}  // namespace hbmscope::bench
