// The order of an allocator's events, over all threads. Each event reports what the allocator had in use after it, so
// consecutive ones form a chain: what one leaves, the next one finds. Times decide the order; where they are equal or a
// little off, the chain does. Where it breaks, events are missing.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/read/xspace/memory_events.h"

namespace hbmscope::xspace {

struct Gap {
  std::size_t before = 0;         // Index of the event before which others are missing.
  std::int64_t change_bytes = 0;  // In use, over the missing ones.
};

struct Chain {
  std::vector<std::uint32_t> order;  // The order of all events.
  std::vector<Gap> gaps;             // In the order of events.
  std::uint64_t checked = 0;         // Events that report what was in use.
  std::uint64_t reordered = 0;       // Their times were equal to, or later than, those of events that came after them.
};

// Orders by time, then follows the chain of each allocator. An event that moves gets the time of its new place.
Chain order_events(MemoryEvents& events, std::size_t allocators);

// What the allocator had in use before the event; wraps around.
inline std::uint64_t in_use_before(const MemoryEvent& event) {
  return event.is_free ? event.in_use + event.size : event.in_use - event.size;
}

}  // namespace hbmscope::xspace
