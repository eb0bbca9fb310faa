// The fields that events have in common, by name, whatever the record kind. Tables and exports of events use it, so
// that a new record kind shows up in all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/trace/record_cursor.h"
#include "analysis/trace/stream_state.h"
#include "collector/wire/block_decoder.h"
#include "collector/wire/records.h"

namespace hbmscope {

struct EventFields {
  std::uint32_t heap = 0, stack = 0;  // 0: unknown.
  std::uint32_t text = 0, key = 0;    // Strings: tag, call, reason or name; key of an attribute.
  std::optional<std::uint64_t> address, size, requested, available, allocation, device_stream;
  std::optional<std::uint64_t> handle, offset, lost_since_ns, device;
  std::optional<std::int64_t> value;  // Value, driver error, marker phase, or number of lost events.
  bool is_derived = false;            // A free that the source did not record (wire::derived_free).

  void take(const EventFields& more);  // Overwrites the fields that `more` knows.
};

// What an event of a block inherits from it; not its tag, which is a field of its allocation.
EventFields fields_of_block(const LiveBlock& block);
// The record's own fields. A free that names its block by slot has few; the block has the others.
EventFields fields_of_event(const wire::DecodedBlock& block, const RecordPlace& place);

}  // namespace hbmscope
