// What a pool had in use when hbmscope came: its allocator says how much, not which blocks. It is written as one block
// without an address, which gets smaller whenever a block is freed that nobody saw allocated.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "collector/wire/stream_writer.h"

namespace hbmscope::serve {

class UnidentifiedMemory {
 public:
  explicit UnidentifiedMemory(wire::StreamWriter& writer) : writer_(writer) {}

  // `heap`: by its id in the stream.
  void note_before(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns);
  // A free of a block that is not known. Returns false if it is none of this memory.
  bool free(const wire::FreeAtRecord& free, std::int64_t time_ns);
  void note_heap_gone(std::uint32_t heap) { left_.erase(heap); }

 private:
  void write(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns);

  wire::StreamWriter& writer_;
  std::unordered_map<std::uint32_t, std::uint64_t> left_;  // Bytes, by heap.
};

}  // namespace hbmscope::serve
