// The free chunks of one owner, in the order in which XLA tries them: by size, then by address.
//
// XLA keeps 21 ordered sets. This keeps the same order in 16 bins for each power of two. A pool has some hundred free
// chunks, so a bin holds one or two; a bitmap of non-empty bins leads to the next one, and a request finds its chunk in
// a handful of loads. A bin with many chunks (a hundred thousand holes of one size) is a treap: a binary tree in (size,
// address) and a heap in a scrambled chunk number. So its depth stays logarithmic whatever the program does, and a node
// needs only its two children.
#pragma once

#include <array>
#include <cstdint>

#include "allocator/reference/xla_gpu/chunk_pool.h"

namespace hbmscope::allocator::xla_gpu {

class FreeChunks {
 public:
  FreeChunks() { roots_.fill(no_chunk); }

  // The chunk must not be in the set. Its address, bytes, left and right must not change until it is erased.
  void insert(ChunkPool& pool, ChunkIndex chunk);
  void erase(ChunkPool& pool, ChunkIndex chunk);

  // The first chunk of at least that many bytes, or no_chunk.
  ChunkIndex find_first(const ChunkPool& pool, std::uint64_t bytes) const;
  // The first of them for which fits(chunk) is true. They are tried one after another, as in XLA.
  template <class Fits>
  ChunkIndex find_first(const ChunkPool& pool, std::uint64_t bytes, const Fits& fits) const {
    for (unsigned bin = bin_of(bytes); bin != bins; bin = next_bin(bin)) {
      const ChunkIndex found = find_below(pool, roots_[bin], bytes, fits);
      if (found != no_chunk) return found;
    }
    return no_chunk;
  }
  // The last chunk of exactly that many bytes for which fits(chunk) is true, or no_chunk.
  template <class Fits>
  ChunkIndex find_last_of(const ChunkPool& pool, std::uint64_t bytes, const Fits& fits) const {
    return find_last_below(pool, roots_[bin_of(bytes)], bytes, fits);
  }
  // 0: no free chunk.
  std::uint64_t largest_bytes(const ChunkPool& pool) const;

 private:
  static constexpr unsigned bins_a_power = 16;
  static constexpr unsigned bins = 56 * bins_a_power;  // 256 B and up: 56 powers of two.

  static unsigned bin_of(std::uint64_t bytes);
  // The depth of the recursion is that of the tree, which is logarithmic.
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
  unsigned next_bin(unsigned bin) const;  // The next non-empty bin after `bin`; `bins`: none.
  void unmark(unsigned bin);

  std::array<ChunkIndex, bins> roots_;
  std::array<std::uint64_t, bins / 64> marks_{};  // One bit per non-empty bin.
  std::uint32_t words_ = 0;                       // One bit per non-zero word of marks_.
};

}  // namespace hbmscope::allocator::xla_gpu
