// The blocks that are live at a given time, with facts that the state does not have: when each was allocated, and when
// it will be freed. The first is looked up in the stream's blocks; the second takes a replay from then to the end.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

struct LiveRow {
  static constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();
  static constexpr std::uint64_t no_event = wire::before_the_stream;

  std::uint32_t stream = 0, slot = 0;  // In the stream's state.
  std::int64_t allocated_ns = no_time;
  // The event that ends it: a free, the end of its heap, or a new listing without it. no_event: it lives to the end, or
  // ends were not requested.
  std::uint64_t end_event = no_event;
  std::int64_t end_ns = no_time;

  friend bool operator==(const LiveRow&, const LiveRow&) = default;
};

struct LiveRows {
  std::vector<LiveRow> rows;  // By stream, heap and address.
  bool knows_ends = false;
};

// Returns nothing if it was cancelled. Costs about 5 ns per event of the stream's blocks in which a live block was
// allocated, and with ends about 60 ns per event after the given time.
std::optional<LiveRows> collect_live_rows(const Trace& trace, const std::vector<StreamState>& states, bool with_ends,
                                          PassControl* control = nullptr);

// Everything known about a block. Absent means unknown. Times are in ns.
struct BlockFacts {
  LiveBlock block;
  std::uint32_t stream = 0;
  const HeapInfo* heap = nullptr;
  std::optional<std::uint64_t> address, requested, waste;
  std::optional<std::uint64_t> age_events;
  std::optional<std::int64_t> allocated_since_start_ns, age_ns;
  std::optional<std::uint64_t> end_event;
  std::optional<std::int64_t> end_since_start_ns, lifetime_ns;
};
BlockFacts facts_of(const Trace& trace, const std::vector<StreamState>& states, const LiveRow& row);

// A display name even if the heap has none: "GPU 0", "heap 3".
std::string name_of_heap(const HeapInfo& heap);

}  // namespace hbmscope
