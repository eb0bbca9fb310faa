#include "analysis/read/xspace/driver_memory.h"

#include <charconv>
#include <unordered_map>

namespace hbmscope::xspace {
namespace {

using protobuf::ByteRange;
using protobuf::bytes_key;
using protobuf::WireCursor;
using protobuf::WireField;

constexpr std::string_view allocation_name = "memalloc_details", free_name = "MemFree_details",
                           residency_name = "MemoryResidency_details";

std::uint64_t bytes_in(std::string_view text) {
  constexpr std::string_view key = "num_bytes:";
  const std::size_t at = text.find(key);
  std::uint64_t bytes = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + key.size(), text.data() + text.size(), bytes);
  return bytes;
}

class Counter {
 public:
  explicit Counter(DriverMemory& found) : found_(found) {}

  void read(const Plane& plane) {
    counts_.clear();
    for (const auto& [id, name] : plane.stat_names) {
      if (name == allocation_name) counts_[id] = &found_.allocations;
      if (name == free_name) counts_[id] = &found_.frees;
      if (name == residency_name) counts_[id] = &found_.residencies;
    }
    if (counts_.empty()) return;
    for (const ByteRange& line : plane.lines) {
      WireCursor events(line);
      for (WireField event; events.next_field(event);)
        if (event.key == bytes_key(4)) read_event(plane, event.bytes);
    }
  }

 private:
  void read_event(const Plane& plane, ByteRange event) {
    WireCursor cursor(event);
    Stat stat;
    for (WireField field; cursor.next_field(field);) {
      if (field.key != bytes_key(4) || !read_stat(field.bytes, stat)) continue;
      const auto count = counts_.find(stat.name);
      if (count == counts_.end()) continue;
      ++*count->second;
      if (count->second != &found_.frees) note_size(text_of(plane, stat));
    }
  }

  static std::string_view text_of(const Plane& plane, const Stat& stat) {
    if (!stat.is_reference) return text_from(stat.bytes);
    const auto text = plane.stat_names.find(stat.value);
    return text != plane.stat_names.end() ? text->second : std::string_view();
  }

  void note_size(std::string_view text) {
    const std::uint64_t bytes = bytes_in(text);
    if (bytes <= largest_bytes_) return;
    largest_bytes_ = bytes;
    found_.largest = text;
  }

  DriverMemory& found_;
  std::unordered_map<std::uint64_t, std::uint64_t*> counts_;  // By metadata id.
  std::uint64_t largest_bytes_ = 0;
};

}  // namespace

DriverMemory count_driver_memory(const Space& space) {
  DriverMemory found;
  Counter counter(found);
  for (const Plane& plane : space.planes) counter.read(plane);
  return found;
}

}  // namespace hbmscope::xspace
