// What an event did to a heap, as the passes of pass.h hand it out.
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
  std::uint64_t position = 0;  // So many events have happened.
  std::int64_t time_ns = 0;
  // The event; kind 0 where it is none, but state from before the stream or a new listing.
  RecordPlace place;
  wire::AllocRecord allocated;  // Only where `what` says so.
  // Of an event that names a block (a free, a request of one, a move): the block; a freed one as it was.
  std::optional<LiveBlock> block;
  // Blocks that went with the heap, or are missing in a new listing of it, which is no event: freed before, unseen. As
  // they were.
  std::vector<LiveBlock> went;
  // Handles of any heap that ended with the event, told once, with `place`.
  std::span<const PhysicalHandle> ended;
};

}  // namespace hbmscope
