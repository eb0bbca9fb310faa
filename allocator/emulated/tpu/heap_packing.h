// How XLA packs the buffers of a program into one heap: GlobalDecreasingSizeBestFitHeap. All buffers and their
// lifetimes are known beforehand. The largest is placed first. Each goes to the smallest gap that holds it between the
// placed buffers that are live at the same time.
//
//   a10 b30 c20 d40, all at once  ->  d at 0, b at 40, c at 70, a at 90: a heap of 100
//
// Source: xla/service/heap_simulator (openxla/xla@1e203b5), from its description; reproduces the results of its unit
// tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/emulated/tpu/work.h"

namespace hbmscope::allocator::tpu {

// A buffer is identified by its index in the list, which is the order of XLA's ids.
struct PackedBuffer {
  std::uint64_t size = 0;
  std::int64_t begin = 0, end = 0;         // Live from begin to end, both inclusive.
  bool needs_place = true;                 // False: placed with the buffer that lists it as a colocation.
  std::vector<std::uint32_t> colocations;  // Placed at the same offset; transitive.
};

// Builds buffers from the calls that a program's schedule makes. Each call advances the clock; buffers of 0 bytes take
// neither time nor space.
class BufferTimes {
 public:
  // A buffer must not be allocated twice, nor freed before it is allocated. Returns its number.
  std::uint32_t alloc(std::uint64_t size);
  std::uint32_t share_with(std::uint32_t other, std::uint64_t size);
  void free(std::uint32_t buffer);
  // Buffers that were never freed end with the last tick.
  std::vector<PackedBuffer> finish();

 private:
  std::vector<PackedBuffer> buffers_;
  std::int64_t clock_ = 0;
};

enum class PackingOrder : std::uint8_t {
  spatial,   // By size, then lifetime, then number.
  temporal,  // By lifetime, including colocations, then size, then number.
};

struct PackedHeap {
  std::vector<std::uint64_t> offsets;  // By buffer.
  std::uint64_t size = 0;
};
// `alignment` of offsets must be above 0. Sums of sizes must stay below 2^62. `work` is the limit, which may be null.
PackedHeap pack_heap(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment,
                     Work* work = nullptr);
// Tries both orders and returns the smaller heap; of equals, the spatial one.
PackedHeap pack_heap(std::span<const PackedBuffer> buffers, std::uint64_t alignment, Work* work = nullptr);

// Several heaps of at most `limit` bytes each. A larger buffer gets its own heap, together with whatever else fits
// there.
struct PackedHeaps {
  std::vector<std::uint32_t> heap_of;  // By buffer.
  std::vector<std::uint64_t> offsets, sizes;
  std::uint64_t size = 0;  // Total of all heaps.
};
PackedHeaps pack_heaps(std::span<const PackedBuffer> buffers, PackingOrder order, std::uint64_t alignment,
                       std::uint64_t limit);

}  // namespace hbmscope::allocator::tpu
