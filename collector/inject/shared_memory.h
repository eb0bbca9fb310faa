// Creates the memory that the job shares with its observer (collector/wire/ring_layout.h), in a size that the job can
// afford.
#pragma once

#include <cstdint>

#include "collector/wire/ring_layout.h"

namespace hbmscope::inject {

struct SharedSizes {
  std::uint32_t own_rings = wire::rings_wanted, lent_rings = wire::rings_lent_wanted;
  std::uint64_t ring_bytes = wire::ring_bytes_wanted, definitions_bytes = wire::definitions_bytes_wanted,
                listing_bytes = wire::listing_bytes_wanted;

  static constexpr std::uint64_t definitions_offset = 4096;
  std::uint64_t listing_offset() const { return definitions_offset + definitions_bytes; }
  std::uint64_t rings_offset() const { return listing_offset() + listing_bytes; }
  std::uint64_t bytes() const {
    return rings_offset() + std::uint64_t{own_rings + lent_rings} * wire::ring_stride(ring_bytes);
  }
};

// Shared memory is charged to the job's control group as it is written. So all of it is at most a sixteenth of what the
// group has left, but for a minimum of some 12 MiB: first the rings get smaller, because only bursts need their size,
// then the room for rare records, then there are fewer rings, as few threads call the driver, and then they get smaller
// still.
SharedSizes affordable_sizes(std::uint64_t group_bytes_left);

struct SharedMemory {
  int descriptor = -1;
  std::uint8_t* bytes = nullptr;
  SharedSizes sizes;
  std::uint64_t group_bytes_left = 0;  // Before (memory_room.h).
};

// A memfd, sealed, mapped, and with its header, except for the time's kind. Returns null, or the error as a sentence.
const char* create_shared_memory(SharedMemory& memory);

}  // namespace hbmscope::inject
