// The free chunks of one owner in the order in which XLA tries them: by size, then by address.
//
// XLA keeps 21 ordered sets; this is the same order in 16 bins for each power of two. A pool has some hundred free
// chunks, so a bin has one or two, a bitmap of bins that are not empty leads to the next one, and a request finds its
// chunk in a handful of loads. Where a bin does fill (a hundred thousand holes of one size) it is a treap: a binary
// tree in (size, address), a heap in a scrambled chunk number, so its depth stays logarithmic whatever the program
// does, and no node needs more than its two children.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/xla_gpu/chunk_pool.h"

namespace hbmscope::allocator::xla_gpu {

class FreeChunks {
 public:
  FreeChunks() { roots_.fill(no_chunk); }

  // The chunk must not be in it; its address, bytes, left and right stay as they are until it is erased.
  void insert(ChunkPool& pool, ChunkIndex chunk);
  void erase(ChunkPool& pool, ChunkIndex chunk);

  // The first chunk of at least so many bytes, or no_chunk.
  ChunkIndex find_first(const ChunkPool& pool, std::uint64_t bytes) const;
  // The first of them that fits(chunk) is true of: one after the other is asked, as XLA does it.
  template <class Fits>
  ChunkIndex find_first(const ChunkPool& pool, std::uint64_t bytes, const Fits& fits) const {
    for (unsigned bin = bin_of(bytes); bin != bins; bin = next_bin(bin)) {
      const ChunkIndex found = find_below(pool, roots_[bin], bytes, fits);
      if (found != no_chunk) return found;
    }
    return no_chunk;
  }
  // Of the chunks of exactly so many bytes, the last that fits(chunk) is true of; no_chunk where there is none.
  template <class Fits>
  ChunkIndex find_last_of(const ChunkPool& pool, std::uint64_t bytes, const Fits& fits) const {
    return find_last_below(pool, roots_[bin_of(bytes)], bytes, fits);
  }
  // 0 where there is none.
  std::uint64_t largest_bytes(const ChunkPool& pool) const;

 private:
  static constexpr unsigned bins_a_power = 16;
  static constexpr unsigned bins = 56 * bins_a_power;  // 256 B and up: 56 powers of two.

  static unsigned bin_of(std::uint64_t bytes);
  // Recursion goes as deep as the tree, which is logarithmic.
  template <class Fits>
  static ChunkIndex find_below(const ChunkPool& pool, ChunkIndex at, std::uint64_t bytes, const Fits& fits) {
    while (at != no_chunk) {
      const Chunk& chunk = pool[at];
      if (chunk.bytes >= bytes) {
        const ChunkIndex before = find_below(pool, chunk.left, bytes, fits);
        if (before != no_chunk) return before;
        if (fits(chunk)) return at;
      }
      at = chunk.right;
    }
    return no_chunk;
  }
  template <class Fits>
  static ChunkIndex find_last_below(const ChunkPool& pool, ChunkIndex at, std::uint64_t bytes, const Fits& fits) {
    while (at != no_chunk) {
      const Chunk& chunk = pool[at];
      if (chunk.bytes <= bytes) {
        const ChunkIndex behind = find_last_below(pool, chunk.right, bytes, fits);
        if (behind != no_chunk) return behind;
        if (chunk.bytes == bytes && fits(chunk)) return at;
      }
      at = chunk.left;
    }
    return no_chunk;
  }
  unsigned next_bin(unsigned bin) const;  // The first that is not empty behind `bin`; `bins`: there is none.
  void unmark(unsigned bin);

  std::array<ChunkIndex, bins> roots_;
  std::array<std::uint64_t, bins / 64> marks_{};  // A bit for each bin that is not empty.
  std::uint32_t words_ = 0;                       // A bit for each word of marks_ that is not 0.
};

}  // namespace hbmscope::allocator::xla_gpu
