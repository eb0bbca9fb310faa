#include "allocator/reference/xla_gpu/free_chunks.h"

#include <algorithm>
#include <bit>

namespace hbmscope::allocator::xla_gpu {
namespace {

bool comes_before(const Chunk& a, std::uint64_t bytes, std::uint64_t address) {
  return a.bytes < bytes || (a.bytes == bytes && a.address < address);
}

// Chunk numbers are small and dense; the multiplication scatters them.
std::uint32_t rank_of(ChunkIndex chunk) {
  return chunk * std::uint32_t{0x9e3779b1};
}

// Joins two trees, where all of the first is before all of the second.
ChunkIndex join(ChunkPool& pool, ChunkIndex first, ChunkIndex second) {
  ChunkIndex root = no_chunk;
  ChunkIndex* link = &root;
  while (first != no_chunk && second != no_chunk) {
    if (rank_of(first) > rank_of(second)) {
      *link = first;
      link = &pool[first].right;
      first = *link;
    } else {
      *link = second;
      link = &pool[second].left;
      second = *link;
    }
  }
  *link = first != no_chunk ? first : second;
  return root;
}

}  // namespace

unsigned FreeChunks::bin_of(std::uint64_t bytes) {
  const std::uint64_t units = std::max<std::uint64_t>(bytes >> 8, 1);  // Less than 256 B: LiftedRules::rounding.
  const auto log = static_cast<unsigned>(std::bit_width(units)) - 1;
  return log * bins_a_power + static_cast<unsigned>((units << 4 >> log) & 15);
}

void FreeChunks::insert(ChunkPool& pool, ChunkIndex chunk) {
  Chunk& added = pool[chunk];
  const unsigned bin = bin_of(added.bytes);
  marks_[bin / 64] |= std::uint64_t{1} << bin % 64;
  words_ |= std::uint32_t{1} << bin / 64;
  ChunkIndex* link = &roots_[bin];
  const std::uint32_t rank = rank_of(chunk);
  while (*link != no_chunk && rank_of(*link) > rank) {
    Chunk& at = pool[*link];
    link = comes_before(at, added.bytes, added.address) ? &at.right : &at.left;
  }
  // The subtree here goes below the new chunk, split at its position.
  ChunkIndex rest = *link;
  *link = chunk;
  ChunkIndex* before = &added.left;
  ChunkIndex* behind = &added.right;
  while (rest != no_chunk) {
    Chunk& at = pool[rest];
    if (comes_before(at, added.bytes, added.address)) {
      *before = rest;
      before = &at.right;
      rest = at.right;
    } else {
      *behind = rest;
      behind = &at.left;
      rest = at.left;
    }
  }
  *before = no_chunk;
  *behind = no_chunk;
}

void FreeChunks::erase(ChunkPool& pool, ChunkIndex chunk) {
  const Chunk& removed = pool[chunk];
  const unsigned bin = bin_of(removed.bytes);
  ChunkIndex* link = &roots_[bin];
  while (*link != chunk) {
    Chunk& at = pool[*link];
    link = comes_before(at, removed.bytes, removed.address) ? &at.right : &at.left;
  }
  *link = join(pool, removed.left, removed.right);
  if (roots_[bin] == no_chunk) unmark(bin);
}

void FreeChunks::unmark(unsigned bin) {
  std::uint64_t& word = marks_[bin / 64];
  word &= ~(std::uint64_t{1} << bin % 64);
  if (word == 0) words_ &= ~(std::uint32_t{1} << bin / 64);
}

unsigned FreeChunks::next_bin(unsigned bin) const {
  unsigned word = bin / 64;
  const std::uint64_t behind = marks_[word] & ~std::uint64_t{1} << bin % 64;
  if (behind != 0) return word * 64 + static_cast<unsigned>(std::countr_zero(behind));
  const std::uint32_t words = words_ & ~std::uint32_t{1} << word;
  if (words == 0) return bins;
  word = static_cast<unsigned>(std::countr_zero(words));
  return word * 64 + static_cast<unsigned>(std::countr_zero(marks_[word]));
}

ChunkIndex FreeChunks::find_first(const ChunkPool& pool, std::uint64_t bytes) const {
  const unsigned bin = bin_of(bytes);
  ChunkIndex found = no_chunk;
  for (ChunkIndex at = roots_[bin]; at != no_chunk;) {
    if (pool[at].bytes < bytes) {
      at = pool[at].right;
    } else {
      found = at;
      at = pool[at].left;
    }
  }
  if (found != no_chunk) return found;
  const unsigned next = next_bin(bin);
  if (next == bins) return no_chunk;
  for (ChunkIndex at = roots_[next]; at != no_chunk; at = pool[at].left) found = at;
  return found;
}

std::uint64_t FreeChunks::largest_bytes(const ChunkPool& pool) const {
  if (words_ == 0) return 0;
  const unsigned word = 31 - static_cast<unsigned>(std::countl_zero(words_));
  ChunkIndex at = roots_[word * 64 + 63 - static_cast<unsigned>(std::countl_zero(marks_[word]))];
  while (pool[at].right != no_chunk) at = pool[at].right;
  return pool[at].bytes;
}

}  // namespace hbmscope::allocator::xla_gpu
