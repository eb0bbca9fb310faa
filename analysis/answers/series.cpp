#include "analysis/answers/series.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "analysis/answers/heaps.h"
#include "analysis/answers/summary.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

// "2026-01-04 10:00:00, 3.19 s, 100 events"
std::string words_for_point(const TraceSeriesPoint& point) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto add_count = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) add(fmt::format("{} {}", text_from_count(count), what));
  };
  constexpr std::uint64_t ns_per_ms = 1'000'000, ms_max = std::numeric_limits<std::int64_t>::max() / ns_per_ms;
  if (point.begun_ms != 0) add(text_from_unix_ns(signed_from(std::min(point.begun_ms, ms_max) * ns_per_ms)));
  if (point.duration_ns) add(text_from_value(*point.duration_ns, "nanoseconds"));
  add(text_from_count_of(point.events.total, "event"));
  add_count(point.events.driver_refusals, "refused by the driver");
  add_count(point.events.lost, "lost");
  return text;
}

// How many of its first letters name the folder that all files are in.
std::size_t common_folder_of(const std::vector<TraceSeriesPoint>& points) {
  if (points.empty()) return 0;
  std::string_view folder = points.front().file;
  for (const TraceSeriesPoint& point : points)
    folder = folder.substr(
        0,
        static_cast<std::size_t>(
            std::mismatch(folder.begin(), folder.end(), point.file.begin(), point.file.end()).first - folder.begin()));
  return folder.rfind('/') + 1;  // Without a slash: npos + 1 is 0.
}

Documents heaps_of_point(const TraceSeriesPoint& point) {
  Documents heaps{.key = "heaps"};
  for (const SeriesHeap& heap : point.heaps)
    heaps.list.emplace_back()
        .add(Figures{{{"name", heap.label},
                      {"layer", heap.layer},
                      {"device", heap.device ? Value(std::uint64_t{*heap.device}) : Value(), Unit::count},
                      {"peak_in_use_bytes", heap.peak_in_use_bytes, Unit::bytes},
                      {"is_peak_inexact", heap.is_peak_inexact},
                      {"in_use_bytes", heap.in_use_bytes, Unit::bytes}}})
        .add(Numbers{"curve_bytes", heap.curve});
  return heaps;
}

}  // namespace

Document describe_trace_series(const std::vector<TraceSeriesPoint>& points, const CurveText& curve_text) {
  Documents list{.key = "series"};
  std::vector<std::vector<Value>> cells;
  bool is_any_inexact = false;
  std::size_t without_memory = 0;
  const std::size_t folder = common_folder_of(points);
  for (const TraceSeriesPoint& point : points) {
    list.list.emplace_back()
        .add(Figures{{{"file", point.file},
                      {"begun_unix_ms", point.begun_ms == 0 ? Value() : Value(point.begun_ms), Unit::count},
                      {"duration_ns", value_of(point.duration_ns), Unit::nanoseconds},
                      {"is_finished", point.is_finished}}})
        .add(describe_event_counts(point.events))
        .add(heaps_of_point(point));
    const std::string words = words_for_point(point),
                      file = point.file.substr(folder) + (point.is_finished ? "" : " (incomplete)");
    const bool has_failed = point.events.out_of_memory > 0;
    const Value failed = has_failed ? Value(point.events.out_of_memory) : Value();
    // A healthy log beside the recordings of a sweep is no point of a series.
    if (point.heaps.empty() && !has_failed)
      ++without_memory;
    else if (point.heaps.empty())
      cells.push_back({Value(), Value(), std::string("(unknown)"), Value(), file, failed, words});
    for (const SeriesHeap& heap : point.heaps) {
      is_any_inexact = is_any_inexact || heap.is_peak_inexact;
      const bool is_first = &heap == &point.heaps.front();
      cells.push_back({heap.peak_in_use_bytes, heap.in_use_bytes,
                       heap.label + (heap.is_peak_inexact ? " (inexact)" : ""),
                       value_of(curve_text(heap.curve, heap.peak_in_use_bytes)), is_first ? Value(file) : Value(),
                       is_first ? failed : Value(), is_first ? Value(words) : Value()});
    }
  }
  const std::size_t rows = cells.size();
  std::string foot =
      is_any_inexact ? "inexact: events were lost or contradict each other, or sizes are not certain" : "";
  if (without_memory > 0)
    foot += fmt::format("{}{} neither memory in use nor a failure", foot.empty() ? "" : "; ",
                        text_from_count_of(without_memory, "more file has", "more files have"));
  Document document;
  document.add(std::move(list));
  document.add(for_readers({.columns = {{.title = "Peak", .unit = Unit::bytes},
                                        {.title = "End", .unit = Unit::bytes},
                                        {.title = "Heap"},
                                        {.title = "Over time"},
                                        {.title = "File"},
                                        {.title = "Failed", .unit = Unit::count},
                                        {.title = "Events", .rank = 1, .is_dim = true}},
                            .rows = std::move(cells),
                            .shown = rows,
                            .foot = std::move(foot)}));
  return document;
}

Documents describe_series(const std::vector<SeriesPoint>& points) {
  Documents list{.key = "series"};
  for (const SeriesPoint& point : points) {
    Table devices = describe_groups(point.by_device, "device", "Device", "bytes", {});
    devices.key = "by_device";
    list.list.emplace_back()
        .add(Figures{{{"file", point.file},
                      {"time_unix_ns", point.time_ns == 0 ? Value() : Value(point.time_ns), Unit::nanoseconds},
                      {"bytes", point.total.bytes, Unit::amount},
                      {"count", point.total.count, Unit::count},
                      {"unknown_count", point.total.unknown, Unit::count}}})
        .add(std::move(devices));
  }
  return list;
}

std::string headline_of_series(const std::vector<SeriesPoint>& points, const SeriesGrowth& growth,
                               std::string_view unit) {
  if (points.size() < 2) return {};
  const auto text_of = [&](std::int64_t amount) { return text_from_value(amount, unit); };
  std::string text = fmt::format("{} profiles: ", text_from_count(points.size()));
  if (growth.bytes == 0)
    return text + fmt::format("{} in the first and in the last", text_of(points.back().total.bytes));
  const auto delta_of = [&](std::int64_t change) {
    return (change < 0 ? "−" : "+") + text_of(clamped_magnitude(change));
  };
  text += delta_of(growth.bytes);
  if (!growth.line) return text;
  const SeriesGrowth::Line& line = growth.lines[*growth.line];
  const std::int64_t change = clamped_difference(line.bytes.back(), line.bytes.front());
  // Lines of unrelated files change by much more than their totals do.
  if (clamped_magnitude(change) / 2 > clamped_magnitude(growth.bytes)) return text;
  text += ", " + line.name;
  if (growth.steps && growth.bytes > 0)
    return text + fmt::format(", {} a step", text_of(change / static_cast<std::int64_t>(*growth.steps)));
  return change == growth.bytes ? text : text + " " + delta_of(change);
}

Table describe_totals(const std::vector<SeriesPoint>& points, std::string_view unit) {
  std::int64_t largest = 0;
  for (const SeriesPoint& point : points) largest = std::max(largest, point.total.bytes);
  std::vector<std::vector<Value>> cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SeriesPoint& point = points[i];
    const std::int64_t change = i == 0 ? 0 : clamped_difference(point.total.bytes, points[i - 1].total.bytes);
    cells.push_back({std::uint64_t{i + 1}, point.total.bytes, share_value(point.total.bytes, largest),
                     i == 0 ? Value() : Value(change), i == 0 ? Value() : share_value(change, largest),
                     point.total.count, value_of(point.time_ns == 0 ? std::string() : text_from_unix_ns(point.time_ns)),
                     point.file});
  }
  return for_readers({.columns = {{.title = "#", .unit = Unit::count, .is_dim = true, .is_short = true},
                                  {.title = unit == "bytes" ? "Bytes" : "Value", .unit = Unit::amount, .share = 1},
                                  {.unit = Unit::share},
                                  {.title = "Change", .unit = Unit::amount, .rank = 3, .share = 1, .is_change = true},
                                  {.unit = Unit::share, .is_change = true},
                                  {.title = "Count", .unit = Unit::count, .rank = 5},
                                  {.title = "Time (UTC)", .rank = 4},
                                  {.title = "File", .width = 118}},
                      .rows = std::move(cells),
                      .layout = Layout::bars,
                      .amount_unit = std::string(unit),
                      .shown = points.size()});
}

}  // namespace hbmscope
