// Chunks by number. XLA's logs name the neighbour of a chunk by its number, and a chunk that is split off keeps what
// the last chunk of that number was asked for; so numbers are given out as XLA does it: the one that was left last is
// taken first, and what it held is not wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/xla_gpu/version.h"

namespace hbmscope::allocator::xla_gpu {

using ChunkIndex = std::uint32_t;
inline constexpr ChunkIndex no_chunk = 0xffffffff;

struct Chunk {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t requested_bytes = 0;  // Of a free chunk: of the last request that this number served.
  ChunkIndex previous = no_chunk;     // The neighbours in its region.
  ChunkIndex next = no_chunk;         // Of a number that is not in use: the one left before it.
  ChunkIndex left = no_chunk;         // In the tree of free chunks.
  ChunkIndex right = no_chunk;
  std::uint32_t region = 0;
  Tag tag = Tag::lower;
  bool in_use = false;

  std::uint64_t end() const { return address + bytes; }
};

class ChunkPool {
 public:
  Chunk& operator[](ChunkIndex chunk) { return chunks_[chunk]; }
  const Chunk& operator[](ChunkIndex chunk) const { return chunks_[chunk]; }

  // References to chunks are void after it.
  ChunkIndex add() {
    ++used_;
    if (unused_ == no_chunk) {
      chunks_.emplace_back();
      return static_cast<ChunkIndex>(chunks_.size() - 1);
    }
    const ChunkIndex chunk = unused_;
    unused_ = chunks_[chunk].next;
    return chunk;
  }
  void remove(ChunkIndex chunk) {
    --used_;
    chunks_[chunk].next = unused_;
    unused_ = chunk;
  }
  std::size_t used() const { return used_; }

 private:
  std::vector<Chunk> chunks_;
  ChunkIndex unused_ = no_chunk;
  std::size_t used_ = 0;
};

}  // namespace hbmscope::allocator::xla_gpu
