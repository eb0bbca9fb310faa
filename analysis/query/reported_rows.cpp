#include "analysis/query/reported_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/model/clamped.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/trace/stream_names.h"

namespace hbmscope {
namespace {

// By allocation id: the size of each live block and handle.
std::unordered_map<std::uint64_t, std::uint64_t> live_sizes(const StreamState& state) {
  std::unordered_map<std::uint64_t, std::uint64_t> sizes;
  for (const LiveBlock& block : state.slots())
    if (block.is_live() && block.event != wire::before_the_stream) sizes.emplace(block.event, block.size);
  for (const PhysicalHandle& handle : state.physical().handles())
    if (handle.is_live()) sizes.emplace(handle.event, handle.size);
  return sizes;
}

}  // namespace

std::vector<CounterRow> compute_counter_rows(const Trace& trace, const Moment& moment) {
  std::vector<CounterRow> rows;
  const auto labels = find_heap_labels(trace, HeapLabels::streams);
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    for (const auto& [key, series] : stream.counters().series()) {
      if (stream.definitions().text(key.first).starts_with(reported_figure::bin)) continue;
      CounterRow& row = rows.emplace_back();
      row.stream = i;
      row.name = stream.definitions().text(key.first);
      if (key.second != 0 && key.second < labels[i].size()) row.heap = labels[i][key.second];
      series.for_each([&, end = moment.positions[i]](const CounterSample& sample) {
        if (sample.event >= end) return;
        ++row.samples;
        row.value = sample.value;
        row.least = std::min(row.least.value_or(sample.value), sample.value);
        row.most = std::max(row.most.value_or(sample.value), sample.value);
      });
    }
  }
  return rows;
}

std::vector<AttributeRow> compute_attribute_rows(const Trace& trace, const std::vector<StreamState>& states) {
  std::map<std::string, AttributeRow> by_key;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const Stream& stream = trace.streams[i];
    if (stream.attributes().size() == 0) continue;
    const auto sizes = live_sizes(states[i]);
    std::set<std::pair<std::uint32_t, std::uint64_t>> seen;  // Key, allocation.
    std::set<std::uint64_t> failures;  // Their attributes are details of failures (trace/failure_details.h).
    for (const FailureEvent& failure : stream.failures()) failures.insert(failure.event);
    for (const Attribute& attribute : stream.attributes().rows()) {
      if (attribute.event >= states[i].position()) break;
      if (failures.count(attribute.allocation) != 0) continue;
      AttributeRow& row = by_key[std::string(stream.definitions().text(attribute.key))];
      ++row.count;
      const auto live = sizes.find(attribute.allocation);
      if (live == sizes.end() || !seen.emplace(attribute.key, attribute.allocation).second) continue;
      ++row.live_blocks;
      row.live_bytes = clamped_sum(row.live_bytes, live->second);
    }
  }
  std::vector<AttributeRow> rows;
  for (auto& [key, row] : by_key) {
    row.key = key;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AttributeRow& a, const AttributeRow& b) { return a.live_bytes > b.live_bytes; });
  return rows;
}

std::vector<ModuleRow> find_modules(const Trace& trace) {
  std::vector<ModuleRow> rows;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Definitions& definitions = trace.streams[i].definitions();
    for (const ModuleInfo& module : definitions.modules())
      rows.push_back({i, std::string(definitions.text(module.path)), std::string(definitions.text(module.build_id)),
                      module.base, module.size});
  }
  return rows;
}

}  // namespace hbmscope
