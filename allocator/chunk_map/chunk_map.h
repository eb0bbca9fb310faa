// Regions cut into chunks: in use, free, or addresses without memory under them. A chunk is split at its low end and
// joins neighbours of the same region and state; free ones are found by owner and size. Every operation is logarithmic
// in the number of chunks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "allocator/interface/allocator.h"

namespace hbmscope::allocator {

class ChunkMap {
 public:
  enum class State : std::uint8_t { in_use, free, unmapped };
  struct Chunk {
    std::uint64_t bytes = 0;
    std::uint64_t requested_bytes = 0;  // Of a chunk in use.
    std::uint32_t region = 0;           // Chunks of two regions never join, even where they touch.
    std::uint32_t owner = 0;            // Who may take it while it is free; one a region.
    State state = State::free;
  };
  using Chunks = std::map<std::uint64_t, Chunk>;  // By address.
  using At = Chunks::iterator;
  using FreeChunks = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // Bytes, address.

  At add(std::uint64_t address, const Chunk& chunk);
  void remove(At chunk);
  // Keeps `bytes` of a free or unmapped chunk, more than 0 and less than all; what is above becomes the next one.
  At split(At chunk, std::uint64_t bytes);
  void set_state(At chunk, State state);
  // With neighbours of the same region and state; what they have become.
  At join(At chunk);

  At find(std::uint64_t address) { return chunks_.find(address); }
  At end() { return chunks_.end(); }
  // The neighbours in its region; end(): there is none.
  At previous_of(At chunk);
  At next_of(At chunk);

  const Chunks& chunks() const { return chunks_; }
  const FreeChunks& free_of(std::uint32_t owner) const;
  const std::set<std::uint64_t>& unmapped_of(std::uint32_t owner) const;  // By address.
  std::uint64_t largest_free_bytes() const;
  std::vector<Piece> pieces() const;  // Less what is unmapped.

 private:
  void index(At chunk);
  void unindex(At chunk);
  bool can_join(At low, At high) const;
  At join_with_next(At low, At high);

  Chunks chunks_;
  std::map<std::uint32_t, FreeChunks> free_;  // By owner.
  std::map<std::uint32_t, std::set<std::uint64_t>> unmapped_;
};

}  // namespace hbmscope::allocator
