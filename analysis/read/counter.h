// Writes a figure that a source reports: a counter, of a heap or (0) of none.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/wire/stream_writer.h"

namespace hbmscope {

// `name`: a string of the stream.
inline void add_counter(wire::StreamWriter& writer, std::uint32_t name, std::int64_t value, std::uint32_t heap,
                        std::int64_t time_ns) {
  wire::CounterRecord record;
  record.value = value;
  record.name = name;
  record.heap = heap;
  writer.add(record, time_ns);
}
inline void add_counter(wire::StreamWriter& writer, std::string_view name, std::int64_t value, std::uint32_t heap,
                        std::int64_t time_ns) {
  add_counter(writer, writer.define_string(name), value, heap, time_ns);
}

}  // namespace hbmscope
