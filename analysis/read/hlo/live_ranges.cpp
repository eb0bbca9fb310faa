#include "analysis/read/hlo/live_ranges.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/read/counter.h"
#include "analysis/read/hlo/text_values.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope::hlo {
namespace {

struct Edge {
  std::uint64_t time = 0;
  bool is_begin = false;  // At one instruction, after what ended before it.
  std::size_t value = 0;
};

constexpr std::string_view live_range_head = "HloLiveRange (max ", section = "BufferLiveRange:";

// "copy-start{0}:1-10"
std::optional<std::pair<std::string_view, LiveRange>> read_range(std::string_view line) {
  const std::size_t colon = line.rfind("}:");
  if (colon == std::string_view::npos) return std::nullopt;
  LiveRange range;
  const char* const end = line.data() + line.size();
  const auto begins = std::from_chars(line.data() + colon + 2, end, range.begin);
  if (begins.ec != std::errc() || begins.ptr == end || *begins.ptr != '-') return std::nullopt;
  const auto ends = std::from_chars(begins.ptr + 1, end, range.end);
  if (ends.ec != std::errc() || ends.ptr != end || range.end < range.begin) return std::nullopt;
  return std::pair(line.substr(0, colon + 1), range);
}

// The begin or end of a value in an arena.
struct Boundary {
  std::uint64_t time = 0;
  bool is_end = false;
  const Assigned* place = nullptr;
  std::uint64_t end_time = 0;  // When the value ends.
};

// The live values of an arena; of overlapping ones the last.
class LivePlaces {
 public:
  // The live value whose memory this value shares: one in the same place with the same size, or one that contains it
  // and lives longer.
  const Assigned* find_shared(const Boundary& begins) const {
    auto at = live_.upper_bound(begins.place->offset);
    if (at == live_.begin()) return nullptr;
    const auto& [place, end_time] = (--at)->second;
    const std::uint64_t distance = begins.place->offset - place->offset;
    if (distance == 0 && place->size == begins.place->size) return place;
    const bool is_part = distance <= place->size && begins.place->size <= place->size - distance;
    return is_part && end_time > begins.time ? place : nullptr;
  }
  void add(const Boundary& begins) { live_[begins.place->offset] = {begins.place, begins.end_time}; }
  void remove(const Assigned& place) {
    const auto there = live_.find(place.offset);
    if (there != live_.end() && there->second.first == &place) live_.erase(there);
  }

 private:
  std::map<std::uint64_t, std::pair<const Assigned*, std::uint64_t>> live_;  // By offset: the value, and when it ends.
};

HeapTrace trace_of(const Allocation& arena, std::vector<Boundary> boundaries) {
  std::stable_sort(boundaries.begin(), boundaries.end(), [](const Boundary& a, const Boundary& b) {
    return std::pair(a.time, a.is_end) < std::pair(b.time, b.is_end);
  });
  HeapTrace trace;
  trace.allocation = arena.index;
  LivePlaces live;
  for (const Boundary& at : boundaries) {
    if (at.is_end) {
      trace.events.push_back({HeapEventKind::free, at.place->buffer, at.place->buffer});
      live.remove(*at.place);
    } else if (const Assigned* shared = live.find_shared(at)) {
      trace.events.push_back({HeapEventKind::share_with, at.place->buffer, shared->buffer});
      if (shared->offset == at.place->offset && shared->size == at.place->size) live.add(at);
    } else {
      trace.events.push_back({HeapEventKind::alloc, at.place->buffer, at.place->buffer});
      live.add(at);
    }
  }
  return trace;
}

}  // namespace

Trace trace_from_live_ranges(const LiveRanges& ranges, const LivePeak& peak, const std::string& name,
                             std::uint64_t bytes) {
  TraceWriter out({name, "hlo", "XLA live ranges", "xla", bytes, TraceOrigin::program});
  wire::StreamWriter& writer = out.events();
  wire::HeapRecord heap;
  heap.device = wire::no_device;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::program);
  const std::uint32_t id = writer.define_heap(heap, "ALL MEMORY SPACES", "all memory spaces");
  add_counter(writer, reported_figure::program_space, static_cast<std::int64_t>(peak.bytes), id, 0);
  std::uint64_t last = 0;  // What ends here is live when the program ends, too.
  for (const auto& [value, range] : ranges) last = std::max(last, range.end);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < peak.values.size(); ++i) {
    const auto range = ranges.find(peak.values[i].first);
    const LiveRange live = range == ranges.end() ? LiveRange{peak.position, peak.position} : range->second;
    edges.push_back({live.begin, true, i});
    if (live.end < last) edges.push_back({live.end + 1, false, i});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tuple(a.time, a.is_begin) < std::tuple(b.time, b.is_begin);
  });
  std::vector<std::uint64_t> addresses(peak.values.size());  // Invented, to identify the blocks.
  std::uint64_t next_address = 0;
  for (const Edge& edge : edges) {
    const auto& [value, size] = peak.values[edge.value];
    if (size == 0) continue;
    if (!edge.is_begin) {
      writer.free(id, addresses[edge.value], size, 0, 0);
      continue;
    }
    wire::AllocRecord block;
    block.address = addresses[edge.value] = next_address;
    block.size = size;
    block.requested = wire::unknown_bytes;
    block.heap = id;
    block.tag = writer.define_string(value);
    next_address += size;
    writer.alloc(block, 0);
  }
  ImportStatistics& import = out.trace().import;
  import.add("values", Severity::info, static_cast<std::int64_t>(ranges.size()));
  if (ranges.size() > peak.values.size())
    import.add(
        "values_without_size", Severity::notice, static_cast<std::int64_t>(ranges.size() - peak.values.size()),
        "Live ranges have the sizes of only those values that are live at the peak; the others were left out. "
        "The peak is exact. The HLO text, the -buffer-assignment.txt or the .hlo.pb of the same module has all.");
  out.close();
  return std::move(out.trace());
}

bool looks_like_live_ranges(std::span<const std::uint8_t> bytes) {
  return text_view(bytes).starts_with(live_range_head);
}

Result<LiveRanges> read_live_ranges(std::span<const std::uint8_t> bytes, const std::string& name) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  LiveRanges ranges;
  text.remove_prefix(std::min(text.find(section), text.size()));
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto range = read_range(trimmed(line));
    if (!range) break;  // Totals follow.
    ranges.emplace(range->first, range->second);
    text.remove_prefix(line.size());
  }
  if (ranges.empty())
    return Failure(refusal("there is no live range in this text", "Was the dump copied whole?", name));
  return ranges;
}

std::optional<LivePeak> read_live_peak(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view head = "Live ranges at ", peak_word = " (peak):";
  std::string_view text = text_view(bytes);
  text.remove_prefix(std::min(text.find(head), text.size()));
  std::string_view line = text.substr(0, text.find('\n'));
  const auto position = number_after(line, head);
  if (!position || !trimmed(line).ends_with(peak_word)) return std::nullopt;
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 60;
  LivePeak peak{*position, 0, {}};
  while (line.size() < text.size()) {
    text.remove_prefix(line.size() + 1);
    line = text.substr(0, text.find('\n'));
    const std::size_t colon = line.rfind("}: ");
    const auto size = colon == std::string_view::npos ? std::nullopt : number_after(line.substr(colon), "}: ");
    if (!size || *size > bytes_max - peak.bytes) break;
    peak.bytes += *size;
    peak.values.emplace_back(trimmed(line.substr(0, colon + 1)), *size);
  }
  return peak.values.empty() ? std::nullopt : std::optional(std::move(peak));
}

std::uint64_t add_heap_traces(Program& program, const LiveRanges& ranges) {
  std::uint64_t without = 0;
  for (const Allocation& arena : program.allocations) {
    if (!arena.is_temporary()) continue;
    std::vector<Boundary> boundaries;
    for (const Assigned& place : arena.assigned) {
      LogicalBuffer& buffer = program.buffers[place.buffer];
      const auto found = ranges.find(buffer.instruction + (buffer.index.empty() ? "{}" : buffer.index));
      if (found == ranges.end()) continue;
      buffer.position = found->second.begin;
      boundaries.push_back({found->second.begin, false, &place, found->second.end});
      boundaries.push_back({found->second.end, true, &place, found->second.end});
    }
    if (boundaries.empty()) continue;
    without += arena.assigned.size() - boundaries.size() / 2;
    program.traces.push_back(trace_of(arena, std::move(boundaries)));
  }
  return without;
}

}  // namespace hbmscope::hlo
