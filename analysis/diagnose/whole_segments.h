// What PyTorch would have had to free so that the driver could serve a request: it gives back a segment when no block
// is in it any more. So a request that no segment can hold is served if enough whole segments go.
//
// A request of 600 MiB fails with 100 MiB free on the device; of the segments, one of 512 MiB has 20 MiB in use, and
// one of 600 MiB is full. Freeing those 20 MiB is enough.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace/stream_state.h"

namespace hbmscope {

struct WholeSegments {
  std::vector<AddressRange> segments;                     // By address.
  std::uint64_t bytes = 0, in_use_bytes = 0, blocks = 0;  // In these segments together.
  // No other set of at least `wanted` bytes has less in use. False: chosen one by one, because there are too many.
  bool is_smallest = true;
};

// Segments of at least `wanted` bytes together with the fewest bytes in use. Nothing if all of them are not enough, or
// if regions are unknown. Takes 2 MiB as the unit of sizes, like PyTorch.
std::optional<WholeSegments> find_whole_segments(const HeapState& heap, std::uint64_t wanted);

}  // namespace hbmscope
