#include "app/gui/core/timeline_counters.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/query/attached_facts.h"
#include "analysis/trace/reported_figures.h"
#include "analysis/units/format.h"
#include "app/gui/core/course.h"

namespace hbmscope::gui {
namespace {

// The name includes the unit: "used_bytes", "cuMemGetInfo.free bytes"; the totals of PyTorch's profiler are bytes too.
bool counts_bytes(std::string_view name) {
  return name.find("bytes") != std::string_view::npos || name == "total_allocated" || name == reported_figure::pool;
}

std::vector<CounterBand> columns_of(const CounterSeries& series, const TimelineColumns& timeline) {
  const std::size_t count = timeline.columns.size();
  std::vector<CounterBand> columns;
  std::optional<Course<CounterBand>> course;
  CounterBand now;
  series.for_each([&](const CounterSample& sample) {
    const double axis = timeline.has_times ? static_cast<double>(sample.time_ns - timeline.first_time_ns)
                                           : static_cast<double>(sample.event);
    const double share = timeline.share_of_axis(axis);
    const CounterBand value_band{sample.value, sample.value, true};
    if (share < 0) now = value_band;
    if (share < 0 || share > 1) return;
    if (!course) course.emplace(columns, count, now);
    course->add(value_band, value_band, TimelineColumns::column_of(share, count));
  });
  if (!course) course.emplace(columns, count, now);
  course->finish();
  return columns;
}

}  // namespace

std::string text_from_counter(const TimelineCounter& counter, std::int64_t value) {
  return counter.is_bytes ? text_from_bytes(value) : text_from_count(value);
}

void add_counters(const Stream& stream, TimelineColumns& timeline) {
  // Order: counters of this heap, then what the process itself holds on the heap's device, then other counters that
  // name that device, then the rest in the same order. A counter with a single report has no course and is left out,
  // unless it says what the process holds or there is no heap.
  const std::uint32_t device = stream.definitions().heap(timeline.heap.heap).device;
  const std::string gpu = "GPU " + std::to_string(device) + " ";
  std::vector<std::pair<int, CounterTable::Key>> found;
  for (const auto& [key, series] : stream.counters().series()) {
    const std::string_view name = stream.definitions().text(key.first);
    const bool is_own = is_held_by_process(name);
    if (name.starts_with(reported_figure::bin)) continue;
    if (key.second != 0 && key.second != timeline.heap.heap) continue;
    if (series.size() < 2 && !is_own && !timeline.heap.empty()) continue;
    const bool is_of_device = device != wire::no_device && name.starts_with(gpu);
    found.emplace_back(key.second != 0 ? 0 : (is_of_device ? 1 : 3) + (is_own ? 0 : 1), key);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, key] : found) {
    if (timeline.counters.size() == timeline_counters_max) break;
    TimelineCounter& counter = timeline.counters.emplace_back();
    counter.name = stream.definitions().text(key.first);
    counter.is_bytes = counts_bytes(counter.name);
    counter.columns = columns_of(*stream.counters().find(key), timeline);
    for (const CounterBand& column : counter.columns)
      if (column.is_defined) counter.most = std::max(counter.most, column.most);
  }
  timeline.counters_left_out = found.size() - timeline.counters.size();
}

}  // namespace hbmscope::gui
