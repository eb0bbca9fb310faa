// An event of a heap (heap_events.h) as a source writes it.
#pragma once

#include <cstdint>

#include "collector/wire/stream_writer.h"
#include "tests/bench/heap_events.h"

namespace hbmscope::bench {

inline void write_event(wire::StreamWriter& writer, std::uint32_t heap, const Event& event, std::uint32_t stack,
                        std::int64_t time_ns) {
  if (event.size_256 == 0) {
    writer.free(heap, event.address, 0, 0, time_ns);
    return;
  }
  wire::AllocRecord block;
  block.address = event.address;
  block.size = block.requested = std::uint64_t{event.size_256} * 256;
  block.heap = heap;
  block.stack = stack;
  writer.alloc(block, time_ns);
}

}  // namespace hbmscope::bench
