// What one address held, from the first event to the last: every allocation over it, how each ended and what came
// after. And of a free gap: since when all of it is free, and who freed the last part.
//
// One pass over the stream that watches the address alone, some 20 to 60 ns an event (range_watch.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

enum class HeldEnd : std::uint8_t {
  lives,       // To the end of the trace.
  freed,       // Its free completed.
  moved,       // The allocation went on at another address.
  heap_gone,   // With its heap.
  not_listed,  // It was missing when the heap was listed anew.
};

struct HeldRow {
  static constexpr std::uint64_t no_event = wire::before_the_stream;

  std::uint64_t event = no_event;  // That put it there; no_event: before the stream.
  std::optional<std::int64_t> begin_ns;
  std::uint64_t address = 0, size = 0, requested = wire::unknown_bytes;
  std::uint32_t stack = 0, tag = 0, device_stream = 0;
  HeldEnd how = HeldEnd::lives;
  std::uint64_t end_event = no_event;
  std::optional<std::int64_t> end_ns;
  std::uint32_t end_stack = 0;  // Who freed it; 0: not told.
};

// The last change before the moment that made a part of the range free.
struct FreeSince {
  enum class Why : std::uint8_t { freed, region_grew, other };
  Why why = Why::other;
  std::uint64_t event = 0;
  std::optional<std::int64_t> time_ns;
  std::uint64_t size = 0;                        // Of the block that was freed, or the region that came.
  std::uint32_t stack = 0, allocated_stack = 0;  // Who freed it (or grew the region), who had taken it.
};

struct AddressHistory {
  std::vector<HeldRow> rows;       // Those over the range's first address, in the order in which they came.
  std::optional<FreeSince> since;  // Of the whole range, before the moment; absent: from before the first event.
  // Of the row that lives at the moment; nothing where the address is free then.
  std::optional<std::size_t> now;
};

// `position`: the moment, for `since` and `now`. Nothing where it was cancelled.
std::optional<AddressHistory> compute_address_history(const Stream& stream, std::uint32_t heap, AddressRange range,
                                                      std::uint64_t position, PassControl* control = nullptr);

// What lies at an address.
struct PlaceAt {
  enum class What : std::uint8_t {
    block,
    free,            // In a region, in no block.
    not_identified,  // In no block of a heap whose regions are not told; `range` is absent, as are its bounds.
    no_memory,       // Outside of all regions.
  };
  What what = What::no_memory;
  AddressRange range;
  std::optional<std::uint32_t> slot;  // Of a block.
};
// Costs a walk over the stream's slots.
PlaceAt find_place(const StreamState& state, std::uint32_t heap, std::uint64_t address);

}  // namespace hbmscope
