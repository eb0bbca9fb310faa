// Regions divided into chunks that are in use or free. A chunk is split at its low end, and free neighbours of the same
// region are joined. Free chunks are found by owner and size. Every operation is
// logarithmic in the number of chunks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "allocator/reference/interface/allocator.h"

namespace hbmscope::allocator {

class ChunkMap {
 public:
  enum class State : std::uint8_t { in_use, free };
  struct Chunk {
    std::uint64_t bytes = 0;
    std::uint64_t requested_bytes = 0;  // Only while in use.
    std::uint32_t region = 0;           // Chunks of different regions never join, even if they are adjacent.
    std::uint32_t owner = 0;            // Who may take it while it is free; one owner per region.
    State state = State::free;
  };
  using Chunks = std::map<std::uint64_t, Chunk>;  // By address.
  using At = Chunks::iterator;
  using FreeChunks = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // Bytes, address.

  At add(std::uint64_t address, const Chunk& chunk);
  void remove(At chunk);
  // Shrinks a free chunk to `bytes`, more than 0 and less than its size. The rest above becomes a new chunk.
  At split(At chunk, std::uint64_t bytes);
  void set_state(At chunk, State state);
  // Joins a free chunk with its free neighbours of the same region. Returns the joined chunk.
  At join(At chunk);

  At find(std::uint64_t address) { return chunks_.find(address); }
  At end() { return chunks_.end(); }
  // The neighbours in its region; end() if there is none.
  At previous_of(At chunk);
  At next_of(At chunk);

  const Chunks& chunks() const { return chunks_; }
  const FreeChunks& free_of(std::uint32_t owner) const;
  std::uint64_t largest_free_bytes() const;
  std::vector<PoolBlock> pool_blocks() const;

 private:
  void index(At chunk);
  void unindex(At chunk);
  bool can_join(At low, At high) const;
  At join_with_next(At low, At high);

  Chunks chunks_;
  std::map<std::uint32_t, FreeChunks> free_;  // By owner.
};

}  // namespace hbmscope::allocator
