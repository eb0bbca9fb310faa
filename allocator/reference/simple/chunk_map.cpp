#include "allocator/reference/simple/chunk_map.h"

#include <algorithm>
#include <iterator>

namespace hbmscope::allocator {

void ChunkMap::index(At chunk) {
  const auto& [address, at] = *chunk;
  if (at.state == State::free) free_[at.owner].emplace(at.bytes, address);
}

void ChunkMap::unindex(At chunk) {
  const auto& [address, at] = *chunk;
  if (at.state == State::free) free_[at.owner].erase({at.bytes, address});
}

ChunkMap::At ChunkMap::add(std::uint64_t address, const Chunk& chunk) {
  const At added = chunks_.emplace(address, chunk).first;
  index(added);
  return added;
}

void ChunkMap::remove(At chunk) {
  unindex(chunk);
  chunks_.erase(chunk);
}

ChunkMap::At ChunkMap::split(At chunk, std::uint64_t bytes) {
  unindex(chunk);
  Chunk rest = chunk->second;
  rest.bytes -= bytes;
  chunk->second.bytes = bytes;
  index(chunk);
  return add(chunk->first + bytes, rest);
}

void ChunkMap::set_state(At chunk, State state) {
  unindex(chunk);
  chunk->second.state = state;
  index(chunk);
}

bool ChunkMap::can_join(At low, At high) const {
  const Chunk& a = low->second;
  const Chunk& b = high->second;
  return a.state != State::in_use && a.state == b.state && a.region == b.region && low->first + a.bytes == high->first;
}

ChunkMap::At ChunkMap::join_with_next(At low, At high) {
  unindex(low);
  low->second.bytes += high->second.bytes;
  remove(high);
  index(low);
  return low;
}

ChunkMap::At ChunkMap::join(At chunk) {
  const At next = std::next(chunk);
  if (next != chunks_.end() && can_join(chunk, next)) chunk = join_with_next(chunk, next);
  if (chunk == chunks_.begin()) return chunk;
  const At previous = std::prev(chunk);
  return can_join(previous, chunk) ? join_with_next(previous, chunk) : chunk;
}

ChunkMap::At ChunkMap::previous_of(At chunk) {
  if (chunk == chunks_.begin()) return chunks_.end();
  const At previous = std::prev(chunk);
  return previous->second.region == chunk->second.region ? previous : chunks_.end();
}

ChunkMap::At ChunkMap::next_of(At chunk) {
  const At next = std::next(chunk);
  return next != chunks_.end() && next->second.region == chunk->second.region ? next : chunks_.end();
}

const ChunkMap::FreeChunks& ChunkMap::free_of(std::uint32_t owner) const {
  static const FreeChunks none;
  const auto found = free_.find(owner);
  return found == free_.end() ? none : found->second;
}

std::uint64_t ChunkMap::largest_free_bytes() const {
  std::uint64_t largest = 0;
  for (const auto& [owner, chunks] : free_)
    if (!chunks.empty()) largest = std::max(largest, chunks.rbegin()->first);
  return largest;
}

std::vector<PoolBlock> ChunkMap::pool_blocks() const {
  std::vector<PoolBlock> blocks;
  for (const auto& [address, chunk] : chunks_) {
    const bool in_use = chunk.state == State::in_use;
    blocks.push_back({address, chunk.bytes, in_use ? chunk.requested_bytes : 0, in_use});
  }
  return blocks;
}

}  // namespace hbmscope::allocator
