// Finds the chunk that a program frees by its address. An open-addressing hash table of the addresses in use, in one
// array. It takes some 50 bytes per block. XLA instead keeps 8 bytes for each 256 of the pool: 2 GiB of host memory for
// a pool of 60 GiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/reference/xla_gpu/chunk_pool.h"

namespace hbmscope::allocator::xla_gpu {

class BlockTable {
 public:
  BlockTable() : entries_(std::size_t{1} << 8) {}

  void insert(std::uint64_t address, ChunkIndex chunk) {
    if (++used_ * 2 > entries_.size()) grow();
    place({address, chunk});
  }

  ChunkIndex find(std::uint64_t address) const {
    std::size_t at = home(address);
    while (entries_[at].chunk != no_chunk && entries_[at].address != address) at = after(at);
    return entries_[at].chunk;
  }

  // Removes and returns the chunk, or returns no_chunk if the address is not in the table. Leaves no tombstone: later
  // entries move up, so a table that was once full is as fast as a new one.
  ChunkIndex take(std::uint64_t address) {
    std::size_t hole = home(address);
    while (entries_[hole].chunk != no_chunk && entries_[hole].address != address) hole = after(hole);
    const ChunkIndex chunk = entries_[hole].chunk;
    if (chunk == no_chunk) return no_chunk;
    const std::size_t mask = entries_.size() - 1;
    for (std::size_t at = after(hole); entries_[at].chunk != no_chunk; at = after(at)) {
      if (((at - home(entries_[at].address)) & mask) < ((at - hole) & mask)) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].chunk = no_chunk;
    --used_;
    return chunk;
  }

 private:
  struct Entry {
    std::uint64_t address = 0;
    ChunkIndex chunk = no_chunk;
  };

  std::size_t after(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
  // Addresses are multiples of 256 B, 2 MiB, ...: the upper bits of the product spread such steps evenly.
  std::size_t home(std::uint64_t address) const { return (address * 0x9e3779b97f4a7c15) >> shift_; }

  void place(Entry entry) {
    std::size_t at = home(entry.address);
    while (entries_[at].chunk != no_chunk) at = after(at);
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    --shift_;
    for (const Entry& entry : old)
      if (entry.chunk != no_chunk) place(entry);
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  unsigned shift_ = 56;  // 64 less the binary logarithm of the number of entries.
};

}  // namespace hbmscope::allocator::xla_gpu
