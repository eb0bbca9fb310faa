// How XLA packs the buffers of a program into one heap: GlobalDecreasingSizeBestFitHeap. All are known beforehand, with
// the times between which they live; the largest is placed first, each at the smallest gap that holds it among those
// that are already placed and live at the same time.
//
//   a10 b30 c20 d40, all at once  ->  d at 0, b at 40, c at 70, a at 90: a heap of 100
//
// Source: xla/service/heap_simulator (openxla/xla@1e203b5), by its description; its unit tests' results come out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/tpu/work.h"

namespace hbmscope::allocator::tpu {

// Buffers are named by their place in the list, which is the order of their ids.
struct PackedBuffer {
  std::uint64_t size = 0;
  std::int64_t begin = 0, end = 0;         // Lives from .. to, both included.
  bool needs_place = true;                 // False: lies where the buffer lies that has it as a colocation.
  std::vector<std::uint32_t> colocations;  // Lie at the same offset; theirs too, and so on.
};

// The calls that a program's schedule becomes. The clock ticks with each; buffers of 0 bytes take no time and no place.
class BufferTimes {
 public:
  // The same buffer must not be begun twice, nor ended before it was begun. Returns its number.
  std::uint32_t alloc(std::uint64_t size);
  std::uint32_t share_with(std::uint32_t other, std::uint64_t size);
  void free(std::uint32_t buffer);
  // Those that were not freed end with the last tick.
  std::vector<PackedBuffer> finish();

 private:
  std::vector<PackedBuffer> buffers_;
  std::int64_t clock_ = 0;
};

enum class PackingOrder : std::uint8_t {
  spatial,   // Size, then how long it lives, then number.
  temporal,  // How long it lives, colocations included, then size, then number.
};

struct PackedHeap {
  std::vector<std::uint64_t> offsets;  // By buffer.
  std::uint64_t size = 0;
};
// `alignment` > 0 of offsets. Sums of sizes have to stay below 2^62. `work`: as much as there may be; null: all.
PackedHeap pack_heap(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment,
                     Work* work = nullptr);
// Both orders, and the smaller heap; of equals the spatial one.
PackedHeap pack_heap(std::span<const PackedBuffer> buffers, std::uint64_t alignment, Work* work = nullptr);

// Several heaps of at most `limit` bytes each; a buffer beyond that has one of its own with what else fits.
struct PackedHeaps {
  std::vector<std::uint32_t> heap_of;  // By buffer.
  std::vector<std::uint64_t> offsets, sizes;
  std::uint64_t size = 0;  // Of all together.
};
PackedHeaps pack_heaps(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment,
                       std::uint64_t limit);

}  // namespace hbmscope::allocator::tpu
