// Chunks by number. XLA's logs identify a chunk's neighbours by number, and a chunk that is split off keeps the
// requested size of the last chunk with its number. So numbers are reused as in XLA: the one released last is taken
// first, and its contents are not wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/reference/xla_gpu/version.h"

namespace hbmscope::allocator::xla_gpu {

using ChunkIndex = std::uint32_t;
inline constexpr ChunkIndex no_chunk = 0xffffffff;

struct Chunk {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t requested_bytes = 0;  // For a free chunk: the last request that this number served.
  ChunkIndex previous = no_chunk;     // The neighbours in its region.
  ChunkIndex next = no_chunk;         // For an unused number: the number released before it.
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

  // Invalidates references to chunks.
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
