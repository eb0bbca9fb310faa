// The events of a stretch of a stream, one a row, as they are listed around a moment: what happened, to which block, by
// whom. Costs a look-up of the state before the stretch and a replay of the stretch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

struct EventRow {
  std::uint64_t event = 0;
  std::int64_t time_ns = 0;
  wire::RecordKind kind{};
  std::uint32_t heap = 0, stack = 0;  // 0: not told.
  std::uint32_t text = 0;             // String: tag, mark, counter, reason.
  // Of the block or region that it is about. `requested`: also what a failed request asked for.
  std::optional<std::uint64_t> address, size, requested;
  std::optional<std::uint64_t> allocation;  // The event that took the block; absent: from before the stream.
  std::optional<std::int64_t> value;        // Of a counter.
  bool is_derived = false;                  // A free that the source did not record (wire::derived_free).

  friend bool operator==(const EventRow&, const EventRow&) = default;
};

// Events [first, last) of the stream, as far as it has them. Lost ones have no row.
std::vector<EventRow> compute_event_rows(const Stream& stream, std::uint64_t first, std::uint64_t last);

// In a person's words: "allocated", "freed", "out of memory"; empty for kinds that a newer version writes.
std::string_view words_for_event(const EventRow& row);

}  // namespace hbmscope
