// The events of a range of a stream, one per row: what happened, to which block, from which stack. Costs one seek to
// the state before the range and a replay of the range.
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
  std::uint32_t heap = 0, stack = 0;  // 0: unknown.
  std::uint32_t text = 0;             // String: tag, mark, counter, reason.
  // The affected block or region. `requested` is also the size of a failed request.
  std::optional<std::uint64_t> address, size, requested;
  std::optional<std::uint64_t> allocation;  // The event that allocated the block. Absent means before the stream.
  std::optional<std::int64_t> value;        // A counter's value.
  bool is_derived = false;                  // A free that the source did not record (wire::derived_free).

  friend bool operator==(const EventRow&, const EventRow&) = default;
};

// The events [first, last) that the stream has. Lost events have no row.
std::vector<EventRow> compute_event_rows(const Stream& stream, std::uint64_t first, std::uint64_t last);

// A display text: "allocated", "freed", "out of memory"; empty for kinds from newer versions.
std::string_view words_for_event(const EventRow& row);

}  // namespace hbmscope
