// Which part of a free chunk a request gets. The chunk is already removed from its list; the remainder is inserted into
// one.
#include "allocator/reference/xla_gpu/bfc.h"

namespace hbmscope::allocator::xla_gpu {

// The remainder is at least as large as the request, or at least the limit for waste.
bool Bfc::splits(std::uint64_t chunk_bytes, std::uint64_t bytes) const {
  return chunk_bytes - bytes >= bytes || chunk_bytes - bytes >= internal_fragmentation_max_;
}

// Splits a chunk after `bytes`. Returns the second part, with the tag of the first; it is in no list.
ChunkIndex Bfc::split(ChunkIndex index, std::uint64_t bytes) {
  const ChunkIndex added = pool_.add();
  Chunk& chunk = pool_[index];
  Chunk& rest = pool_[added];
  rest.address = chunk.address + bytes;
  rest.bytes = chunk.bytes - bytes;
  rest.region = chunk.region;
  rest.tag = chunk.tag;
  rest.in_use = false;
  rest.previous = index;
  rest.next = chunk.next;
  chunk.bytes = bytes;
  chunk.next = added;
  if (rest.next != no_chunk)
    pool_[rest.next].previous = added;
  else
    last_ = added;
  return added;
}

// Takes the lowest aligned address. The part below becomes a hole of the lower end; the part above keeps its tag.
ChunkIndex Bfc::carve_lower(ChunkIndex chunk, std::uint64_t bytes, std::uint64_t alignment, bool exactly) {
  const std::uint64_t padding = align_up(pool_[chunk].address, alignment) - pool_[chunk].address;
  if (padding > 0) {
    const ChunkIndex prefix = chunk;
    chunk = split(prefix, padding);
    pool_[prefix].tag = Tag::lower;
    insert_free(prefix);
  }
  const std::uint64_t chunk_bytes = pool_[chunk].bytes;
  if (exactly ? chunk_bytes > bytes : splits(chunk_bytes, bytes)) insert_free(split(chunk, bytes));
  return chunk;
}

// Takes the highest aligned address; or the lowest one, if the split rule would not split the rest from there. The part
// below keeps its tag. The part that alignment leaves above is split off by the same rule, as a hole of the upper end.
ChunkIndex Bfc::carve_upper(ChunkIndex chunk, std::uint64_t bytes, std::uint64_t alignment, bool exactly) {
  const std::uint64_t address = pool_[chunk].address, end = pool_[chunk].end();
  const std::uint64_t lowest = align_up(address, alignment);
  const bool is_whole = !exactly && !splits(end - lowest, bytes);
  const std::uint64_t begin = is_whole ? lowest : align_down(end - bytes, alignment);
  if (begin > address) {
    const ChunkIndex prefix = chunk;
    chunk = split(prefix, begin - address);
    insert_free(prefix);
  }
  if (exactly ? end - begin > bytes : splits(end - begin, bytes)) {
    const ChunkIndex suffix = split(chunk, bytes);
    pool_[suffix].tag = Tag::upper;
    insert_free(suffix);
  }
  return chunk;
}

}  // namespace hbmscope::allocator::xla_gpu
