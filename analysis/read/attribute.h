// Says something about an allocation, or about a failure, by the number of its event.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/wire/stream_writer.h"

namespace hbmscope {

// An empty value says nothing.
inline void add_attribute(wire::StreamWriter& writer, std::uint64_t event, std::string_view key,
                          std::string_view value) {
  if (value.empty()) return;
  wire::AttributeRecord record;
  record.allocation = event;
  record.key = writer.define_string(key);
  record.value = writer.define_string(value);
  writer.add(record, 0);
}

}  // namespace hbmscope
