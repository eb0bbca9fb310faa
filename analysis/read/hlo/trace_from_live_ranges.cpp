#include "analysis/read/hlo/trace_from_live_ranges.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "analysis/read/counter.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/trace_writer.h"

namespace hbmscope::hlo {
namespace {

struct Edge {
  std::uint64_t time = 0;
  bool is_begin = false;  // At one instruction, after what ended before it.
  std::size_t value = 0;
};

}  // namespace

Trace trace_from_live_ranges(const LiveRanges& ranges, const LivePeak& peak, const std::string& name,
                             std::uint64_t bytes) {
  TraceWriter out({name, "hlo", "XLA live ranges", "xla", bytes});
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

}  // namespace hbmscope::hlo
