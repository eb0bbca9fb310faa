// What XLA's profiler saves (*.xplane.pb): an XSpace of planes, one per device and one for the host's threads, each
// with lines of events. Names are in tables of the plane, which come after its lines, so a plane is first indexed and
// then read. Source: third_party/tsl/tsl/profiler/protobuf/xplane.proto of openxla/xla at 753e5e56.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/protobuf_cursor.h"

namespace hbmscope::xspace {

// A statistic of an event, a plane or a name: XStat. Floating-point values are left out.
struct Stat {
  std::uint64_t name = 0;     // Metadata id.
  std::uint64_t value = 0;    // An integer, as two's complement if it is signed, or the metadata id of a reference.
  protobuf::ByteRange bytes;  // A text or a byte string.
  bool is_reference = false;  // The value is the name of another statistic.
};
// All texts and ranges point into the file's bytes.
struct Plane {
  std::string_view name;  // "/host:CPU", "/device:GPU:0", "Task Environment"
  std::vector<protobuf::ByteRange> lines;
  std::unordered_map<std::uint64_t, std::string_view> event_names, stat_names;  // By metadata id.
  struct HloProto {
    std::string_view name;  // "jit_step(17)"
    std::span<const std::uint8_t> bytes;
  };
  std::vector<HloProto> programs;
  std::vector<std::pair<std::string_view, Stat>> stats;  // The plane's own, by name: "memory_size".
};

struct Space {
  std::vector<Plane> planes;
  std::vector<std::string_view> errors, warnings, hosts;
  // When profiling began, in ns since 1970; the times of lines count from it. Absent in files that were not
  // post-processed, whose lines count from 1970.
  std::optional<std::int64_t> start_ns;
  // Where the file is cut off or damaged; what is before it was read.
  std::optional<std::uint64_t> damaged_at;
};

bool looks_like_xspace(std::span<const std::uint8_t> bytes);

// Reads the tables of all planes, but no events.
Space index_planes(std::span<const std::uint8_t> bytes);

// False if the message is damaged.
bool read_any_stat(protobuf::ByteRange message, Stat& stat);

// The same, inlined for nearly all of them: XLA writes the name first, which has a small id, and then one integer.
[[gnu::always_inline]] inline bool read_stat(protobuf::ByteRange message, Stat& stat) {
  const std::uint8_t *const begin = message.begin, *const end = message.end;
  if (end - begin >= 4 && begin[0] == protobuf::varint_key(1) && begin[1] < 0x80) {
    const std::uint8_t key = begin[2];
    protobuf::WireCursor cursor(protobuf::ByteRange{begin + 3, end});
    const bool is_integer =
        key == protobuf::varint_key(3) || key == protobuf::varint_key(4) || key == protobuf::varint_key(7);
    if (std::uint64_t value = 0; is_integer && cursor.read_varint(value) && cursor.at() == end) {
      stat = {begin[1], value, {}, key == protobuf::varint_key(7)};
      return true;
    }
  }
  return read_any_stat(message, stat);
}

inline std::string_view text_from(protobuf::ByteRange range) {
  return {reinterpret_cast<const char*>(range.begin), static_cast<std::size_t>(range.end - range.begin)};
}

}  // namespace hbmscope::xspace
