#include "analysis/read/xspace/xspace.h"

#include <algorithm>

namespace hbmscope::xspace {

using protobuf::ByteRange;
using protobuf::bytes_key;
using protobuf::varint_key;
using protobuf::WireCursor;
using protobuf::WireField;
using protobuf::WireProblem;

namespace {

struct Entry {
  std::uint64_t id = 0;
  ByteRange value;
};

// A field of a map<int64, message>.
Entry read_entry(ByteRange message) {
  Entry entry;
  WireCursor cursor(message);
  for (WireField field; cursor.next_field(field);) {
    if (field.key == varint_key(1)) entry.id = field.varint;
    if (field.key == bytes_key(2)) entry.value = field.bytes;
  }
  return entry;
}

void read_event_name(const Entry& entry, Plane& plane, std::vector<ByteRange>& stats,
                     std::vector<std::string_view>& of) {
  std::string_view name;
  WireCursor cursor(entry.value);
  const std::size_t first = stats.size();
  for (WireField field; cursor.next_field(field);) {
    if (field.key == bytes_key(2)) name = text_from(field.bytes);
    if (field.key == bytes_key(5)) stats.push_back(field.bytes);
  }
  of.resize(stats.size());
  std::fill(of.begin() + static_cast<std::ptrdiff_t>(first), of.end(), name);
  plane.event_names[entry.id] = name;
}

std::string_view name_in(ByteRange message) {
  WireCursor cursor(message);
  for (WireField field; cursor.next_field(field);)
    if (field.key == bytes_key(2)) return text_from(field.bytes);
  return {};
}

struct IndexedPlane {
  Plane plane;
  std::optional<std::int64_t> start_ns;
  bool is_damaged = false;
};

IndexedPlane index_plane(ByteRange message) {
  IndexedPlane indexed;
  Plane& plane = indexed.plane;
  std::vector<ByteRange> stats, stats_of_names;
  std::vector<std::string_view> names;  // The name of the event to which each of stats_of_names belongs.
  WireCursor cursor(message);
  for (WireField field; cursor.next_field(field);) switch (field.key) {
      case bytes_key(2): plane.name = text_from(field.bytes); break;
      case bytes_key(3): plane.lines.push_back(field.bytes); break;
      case bytes_key(4): read_event_name(read_entry(field.bytes), plane, stats_of_names, names); break;
      case bytes_key(5): {
        const Entry entry = read_entry(field.bytes);
        plane.stat_names[entry.id] = name_in(entry.value);
        break;
      }
      case bytes_key(6): stats.push_back(field.bytes); break;
      default: break;
    }
  indexed.is_damaged = cursor.problem() != WireProblem::none;
  const auto name_of = [&](const Stat& stat) {
    const auto found = plane.stat_names.find(stat.name);
    return found != plane.stat_names.end() ? found->second : std::string_view();
  };
  Stat stat;
  for (const ByteRange each : stats)
    if (read_stat(each, stat)) plane.stats.emplace_back(name_of(stat), stat);
  for (const auto& [name, value] : plane.stats)
    if (name == "profile_start_time") indexed.start_ns = static_cast<std::int64_t>(value.value);
  for (std::size_t i = 0; i < stats_of_names.size(); ++i)
    if (read_stat(stats_of_names[i], stat) && name_of(stat) == "Hlo Proto")
      plane.programs.push_back({names[i], {stat.bytes.begin, stat.bytes.end}});
  return indexed;
}

void skip_varint(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && (text[size] & '\x80') != 0) ++size;
  text.remove_prefix(std::min(size + 1, text.size()));
}

}  // namespace

// The first field is a plane with a name, after an id if it has one.
bool looks_like_xspace(std::span<const std::uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with('\x0a')) return false;
  text.remove_prefix(1);
  skip_varint(text);  // The size of the plane.
  if (text.starts_with('\x08')) {
    text.remove_prefix(1);
    skip_varint(text);
  }
  if (!text.starts_with('\x12') || text.size() < 2) return false;
  text.remove_prefix(2);
  return text.starts_with("/host:") || text.starts_with("/device:") || text.starts_with("Task Environment") ||
         text.starts_with("#Chip");
}

bool read_any_stat(ByteRange message, Stat& stat) {
  stat = {};
  WireCursor cursor(message);
  for (WireField field; cursor.next_field(field);) switch (field.key) {
      case varint_key(1): stat.name = field.varint; break;
      case varint_key(3):
      case varint_key(4): stat.value = field.varint; break;
      case bytes_key(5):
      case bytes_key(6): stat.bytes = field.bytes; break;
      case varint_key(7):
        stat.value = field.varint;
        stat.is_reference = true;
        break;
      default: break;
    }
  return cursor.problem() == WireProblem::none;
}

Space index_planes(std::span<const std::uint8_t> bytes) {
  Space space;
  const std::uint8_t* const begin = bytes.data();
  WireCursor cursor(ByteRange{begin, begin + bytes.size()});
  for (WireField field; cursor.next_field(field);) switch (field.key) {
      case bytes_key(1): {
        IndexedPlane indexed = index_plane(field.bytes);
        if (indexed.start_ns) space.start_ns = indexed.start_ns;
        if (indexed.is_damaged && !space.damaged_at)
          space.damaged_at = static_cast<std::uint64_t>(cursor.field_begin() - begin);
        space.planes.push_back(std::move(indexed.plane));
        break;
      }
      case bytes_key(2): space.errors.push_back(text_from(field.bytes)); break;
      case bytes_key(3): space.warnings.push_back(text_from(field.bytes)); break;
      case bytes_key(4): space.hosts.push_back(text_from(field.bytes)); break;
      default: break;
    }
  if (cursor.problem() != WireProblem::none && !space.damaged_at)
    space.damaged_at = static_cast<std::uint64_t>(cursor.field_begin() != nullptr ? cursor.field_begin() - begin : 0);
  return space;
}

}  // namespace hbmscope::xspace
