#include "analysis/answers/series.h"

#include <algorithm>

#include "analysis/answers/summary.h"
#include "analysis/model/clamped.h"
#include "analysis/units/format.h"

namespace hbmscope {

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

Table describe_totals(const std::vector<SeriesPoint>& points, std::string_view unit) {
  std::int64_t largest = 0;
  for (const SeriesPoint& point : points) largest = std::max(largest, point.total.bytes);
  std::vector<std::vector<Value>> cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SeriesPoint& point = points[i];
    cells.push_back({point.total.bytes, share_value(point.total.bytes, largest),
                     i == 0 ? Value() : Value(clamped_difference(point.total.bytes, points[i - 1].total.bytes)),
                     point.total.count, value_of(point.time_ns == 0 ? std::string() : text_from_unix_ns(point.time_ns)),
                     point.file});
  }
  return for_readers({.columns = {{.title = unit == "bytes" ? "Bytes" : "Value", .unit = Unit::amount, .share = 1},
                                  {.unit = Unit::share},
                                  {.title = "Change", .unit = Unit::amount, .is_change = true},
                                  {.title = "Count", .unit = Unit::count, .rank = 2},
                                  {.title = "Time (UTC)", .rank = 1},
                                  {.title = "File"}},
                      .rows = std::move(cells),
                      .layout = Layout::bars,
                      .amount_unit = std::string(unit),
                      .shown = points.size()});
}

}  // namespace hbmscope
