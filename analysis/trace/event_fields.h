// What an event says, whatever record it is: the fields that events have in common, by name. Tables of events and their
// exports are made of it, so that a new record shows in all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/trace/record_cursor.h"
#include "collector/wire/block_decoder.h"
#include "collector/wire/records.h"

namespace hbmscope {

struct EventFields {
  std::uint32_t heap = 0, stack = 0;  // 0: unknown.
  std::uint32_t text = 0, key = 0;    // Strings: tag, call, reason or name; key of an attribute.
  std::optional<std::uint64_t> address, size, requested, available, allocation, device_stream;
  std::optional<std::uint64_t> handle, offset, lost_since_ns, device;
  std::optional<std::int64_t> value;  // Of a counter; a driver's error, a marker's phase, how many events are lost.
  bool is_derived = false;            // A free that the source did not record (wire::derived_free).

  void take(const EventFields& more);  // What `more` knows replaces what is here.
};

// The record's own fields. Of a free that names its block by slot these are few: the block has the others.
EventFields fields_of_event(const wire::DecodedBlock& block, const RecordPlace& place);

}  // namespace hbmscope
