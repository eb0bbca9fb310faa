// Where the pools of frameworks have their memory. An allocator reports its blocks; the driver's memory that contains
// one becomes a region of its heap, from that block on, until it is freed. So what a pool holds and does
// not use is known, and the two layers are joined by address.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

class PoolRegions {
 public:
  explicit PoolRegions(wire::StreamWriter& writer) : writer_(writer) {}

  // The driver has blocks and mappings of physical memory. Only mappings that follow each other can be one piece to a
  // pool.
  enum class Source : std::uint8_t { block, mapping };
  void note_memory(std::uint64_t address, std::uint64_t bytes, Source source = Source::block);
  void note_memory_gone(std::uint64_t address, std::int64_t time_ns);

  // A heap, by its id in the stream, whose regions are found here.
  void add_heap(std::uint32_t heap);
  bool has(std::uint32_t heap) const { return heap < is_pool_.size() && is_pool_[heap]; }
  // Call it before the block is written. Memory that the driver gave before the observer came has no region.
  void note_block(std::uint32_t heap, std::uint64_t address, std::uint64_t bytes, std::int64_t time_ns);
  void note_heap_gone(std::uint32_t heap);

 private:
  struct Memory {
    std::uint64_t bytes = 0;
    std::uint32_t heap = 0;  // The pool that it is a region of, or 0.
    Source source = Source::block;
  };
  std::map<std::uint64_t, Memory>::iterator find(std::uint64_t address);

  wire::StreamWriter& writer_;
  std::map<std::uint64_t, Memory> memory_;  // By address.
  std::vector<bool> is_pool_;               // By heap.
  // Where the last block was, as the next one is mostly in the same memory.
  std::uint64_t last_begin_ = 0, last_end_ = 0;
  std::uint32_t last_heap_ = 0;
};

}  // namespace hbmscope::serve
