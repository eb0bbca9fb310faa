// The blocks that live at a moment, with what a state alone does not know of them: when each was taken, and when it
// will be gone. The first is looked up in the stream's blocks, the second is a replay from the moment to the end.
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
  // The event that ends it, by a free, with its heap, or missing in a new listing. no_event: it lives to the end, or
  // ends were not asked for.
  std::uint64_t end_event = no_event;
  std::int64_t end_ns = no_time;

  friend bool operator==(const LiveRow&, const LiveRow&) = default;
};

struct LiveRows {
  std::vector<LiveRow> rows;  // By stream, heap and address.
  bool knows_ends = false;
};

// Nothing where it was cancelled. Costs some 5 ns an event of the stream's blocks in which something was taken that
// lives, and with ends some 60 ns an event from the moment on.
std::optional<LiveRows> collect_live_rows(const Trace& trace, const std::vector<StreamState>& states, bool with_ends,
                                          PassControl* control = nullptr);

// What is known of one block; absent is what its source does not tell. Times are in ns.
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

// The end of a name where there is nothing to be said of one: "GPU 0", "heap 3".
std::string name_of_heap(const HeapInfo& heap);

}  // namespace hbmscope
