// The history of one address: every allocation over it, how each ended and what followed. For a free gap: since when
// all of it is free, and who freed the last part.
//
// One pass over the stream that watches only this address, at about 20 to 60 ns per event (range_watch.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

enum class HeldEnd : std::uint8_t {
  lives,       // Until the end of the trace.
  freed,       // Its free completed.
  moved,       // The allocation continued at another address.
  heap_gone,   // Together with its heap.
  not_listed,  // Missing in a new listing of the heap.
};

struct HeldRow {
  static constexpr std::uint64_t no_event = wire::before_the_stream;

  std::uint64_t event = no_event;  // The event that placed it there; no_event: before the stream.
  std::optional<std::int64_t> begin_ns;
  std::uint64_t address = 0, size = 0, requested = wire::unknown_bytes;
  std::uint32_t stack = 0, tag = 0, device_stream = 0;
  HeldEnd how = HeldEnd::lives;
  std::uint64_t end_event = no_event;
  std::optional<std::int64_t> end_ns;
  std::uint32_t end_stack = 0;  // Who freed it. 0 if unknown.
};

// The last change before the given time that freed a part of the range.
struct FreeSince {
  enum class Why : std::uint8_t { freed, region_grew, other };
  Why why = Why::other;
  std::uint64_t event = 0;
  std::optional<std::int64_t> time_ns;
  std::uint64_t size = 0;                        // The size of the freed block or the new region.
  std::uint32_t stack = 0, allocated_stack = 0;  // Who freed it (or grew the region), and who had allocated it.
};

struct AddressHistory {
  std::vector<HeldRow> rows;  // The blocks over the range's first address, in order of time.
  // For the whole range, before the given time. Absent means since before the first event.
  std::optional<FreeSince> since;
  // The row that is live at the given time; nothing if the address is free then.
  std::optional<std::size_t> now;
  std::size_t begun = 0;  // How many rows had begun by then.

  // First and one past the last of at most `most` rows (0: all) around the given time.
  std::pair<std::size_t, std::size_t> rows_around(std::size_t most) const;
};

// `position` is the given time of `since` and `now`. Returns nothing if it was cancelled.
std::optional<AddressHistory> compute_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control = nullptr);

// What an address contains.
struct PlaceAt {
  enum class What : std::uint8_t {
    block,
    free,            // In a region, in no block.
    not_identified,  // In no block of a heap with unknown regions; the bounds are unknown too, and `range` is empty.
    no_memory,       // Outside of all regions.
  };
  What what = What::no_memory;
  AddressRange range;
  std::optional<std::uint32_t> slot;  // Only for a block.
};
// Scans the stream's slots.
PlaceAt find_place(const StreamState& state, std::uint32_t heap, std::uint64_t address);

}  // namespace hbmscope
