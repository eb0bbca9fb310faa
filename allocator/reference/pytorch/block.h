// The parts of PyTorch's pool. A segment, memory from the driver, is a chain of blocks that cover it. A block that
// nobody uses is in the free set of its block pool; there is one block pool for small and one for large requests, and
// another such pair in each private pool.
//
// A block keeps its identity when it is joined with a neighbour or loses its lower part to a request, as in PyTorch:
// requested_bytes of a free block, which snapshots contain, is what its last user requested.
#pragma once

#include <cstdint>
#include <set>

#include "allocator/reference/interface/upstream.h"

namespace hbmscope::allocator::pytorch {

// PyTorch's MempoolId_t. {0, 0} is the default pool; graphs count up the first number, MemPools the second.
struct PoolId {
  std::uint64_t first = 0, second = 0;
  bool operator==(const PoolId&) const = default;
  bool operator<(const PoolId& other) const {
    return first != other.first ? first < other.first : second < other.second;
  }
};
inline constexpr PoolId default_pool = {};

struct Block;
struct PrivatePool;

struct Segment {
  Claim claim;  // For an expandable segment: the reserved addresses.
  std::uint32_t number = 0;
  std::uint64_t page_bytes = 0;  // For an expandable segment: the bytes mapped at a time. Otherwise 0.
  Block* lowest = nullptr;

  bool is_expandable() const { return page_bytes != 0; }
};

struct BlockPool {
  struct BySize {  // By stream, size, address.
    bool operator()(const Block* a, const Block* b) const;
  };
  struct ByAddress {  // By stream, address.
    bool operator()(const Block* a, const Block* b) const;
  };

  explicit BlockPool(bool is_small_pool, PrivatePool* its_owner = nullptr)
      : is_small(is_small_pool), owner(its_owner) {}
  void add_free(Block* block);
  PoolId id() const;

  const bool is_small;
  PrivatePool* const owner;  // Null: the default pool.
  std::set<Block*, BySize> free;
  std::set<Block*, ByAddress> unmapped;
  std::uint64_t searches = 0;  // So far; the clock by which garbage collection measures the age of a free block.
};

struct PrivatePool {
  explicit PrivatePool(PoolId its_id) : id(its_id) {}

  const PoolId id;
  std::uint32_t users = 1;     // Graphs and MemPools that use it; without one, its memory may be released.
  std::uint32_t segments = 0;  // Calls of the driver that allocated memory for it, less those that freed some.
  BlockPool large{false, this};
  BlockPool small{true, this};
};

struct Block {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t requested_bytes = 0;  // By its last user; kept when it is freed.
  std::uint32_t stream = 0;
  BlockPool* pool = nullptr;
  Segment* segment = nullptr;
  Block* previous = nullptr;  // In its segment.
  Block* next = nullptr;
  bool is_allocated = false;
  bool is_mapped = true;                  // False: addresses of an expandable segment that have no memory.
  std::uint32_t pending_events = 0;       // Freed, but other streams may still use it.
  std::set<std::uint32_t> other_streams;  // record_stream() named them.
  std::uint64_t freed_at_search = 0;

  bool is_split() const { return previous != nullptr || next != nullptr; }
  bool is_active() const { return is_allocated || pending_events > 0 || !other_streams.empty(); }
  std::uint64_t age() const { return pool->searches - freed_at_search; }
};

inline bool BlockPool::BySize::operator()(const Block* a, const Block* b) const {
  if (a->stream != b->stream) return a->stream < b->stream;
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
}

inline bool BlockPool::ByAddress::operator()(const Block* a, const Block* b) const {
  return a->stream != b->stream ? a->stream < b->stream : a->address < b->address;
}

inline void BlockPool::add_free(Block* block) {
  block->freed_at_search = searches;
  free.insert(block);
}

inline PoolId BlockPool::id() const {
  return owner == nullptr ? default_pool : owner->id;
}

}  // namespace hbmscope::allocator::pytorch
