// What an event did to a heap, as the passes in pass.h report it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/trace/record_cursor.h"
#include "analysis/trace/stream_state.h"

namespace hbmscope {

// What an event, or a record from before the stream, did to a heap.
struct HeapChange {
  enum class What : std::uint8_t { allocated, freed, other };
  What what = What::other;
  std::uint32_t heap = 0;
  std::uint64_t position = 0;  // The number of events up to and including this one.
  std::int64_t time_ns = 0;
  // The event. Kind 0 if it is no event but state from before the stream, or a new listing.
  RecordPlace place;
  wire::AllocRecord allocated;  // Only if `what` is allocated.
  // If the event names a block (a free, a request to free, a move): that block. A freed one as it was before.
  std::optional<LiveBlock> block;
  // Blocks that disappeared with the heap, or are missing in a new listing of it (not an event): they were freed
  // earlier, unobserved. As they were before.
  std::vector<LiveBlock> went;
  // Handles of any heap that ended with the event, reported once, with `place`.
  std::span<const PhysicalHandle> ended;
};

}  // namespace hbmscope
