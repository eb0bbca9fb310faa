#include "app/gui/core/timeline_counters.h"

#include "analysis/units/format.h"

namespace hbmscope::gui {
namespace {

// A name says its unit: "used_bytes", "cuMemGetInfo.free bytes".
bool tells_bytes(std::string_view name) {
  return name.find("bytes") != std::string_view::npos;
}

std::vector<CounterBand> columns_of(const CounterSeries& series, const TimelineColumns& timeline) {
  const std::size_t count = timeline.columns.size();
  std::vector<CounterBand> columns(count);
  CounterBand now;
  std::size_t at = 0;
  bool is_first = true;
  series.for_each([&](const CounterSample& sample) {
    const double axis = timeline.has_times ? static_cast<double>(sample.time_ns - timeline.first_time_ns)
                                           : static_cast<double>(sample.event);
    const double share = timeline.share_of_axis(axis);
    if (share > 1) return;
    const CounterBand told{sample.value, sample.value, true};
    if (share >= 0) {
      const auto column =
          std::max(at, std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count))));
      if (is_first) columns[0] = now;
      is_first = false;
      while (at < column) columns[++at] = now;
      columns[at].add(told);
    }
    now = told;
  });
  if (is_first) columns[0] = now;
  while (at + 1 < count) columns[++at] = now;
  return columns;
}

}  // namespace

std::string text_from_counter(const TimelineCounter& counter, std::int64_t value) {
  return counter.is_bytes ? text_from_bytes(value) : text_from_count(value);
}

void add_counters(const Stream& stream, TimelineColumns& timeline) {
  for (const auto& [key, series] : stream.counters().series()) {
    const auto [name, heap] = key;
    if ((heap != 0 && heap != timeline.heap.heap) || series.size() < 2) continue;
    if (timeline.counters.size() == timeline_counters_max) {
      ++timeline.counters_left_out;
      continue;
    }
    TimelineCounter& counter = timeline.counters.emplace_back();
    counter.name = stream.definitions().text(name);
    counter.is_bytes = tells_bytes(counter.name);
    counter.columns = columns_of(series, timeline);
    for (const CounterBand& column : counter.columns)
      if (column.is_defined) counter.most = std::max(counter.most, column.most);
  }
}

}  // namespace hbmscope::gui
