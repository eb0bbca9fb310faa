#include "analysis/write/json_metrics.h"

#include "analysis/write/json_optional.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

Json json_from_histogram(const PowerHistogram& histogram, const char* unit) {
  Json list = Json::array();
  const std::string from = std::string("from_") + unit, to = std::string("to_") + unit;
  for (const PowerHistogram::Step& step : histogram.steps())
    list.push_back({{from, step.from}, {to, or_null(step.to)}, {"count", step.count}, {"bytes", step.bytes}});
  return list;
}

Json json_from_histogram(const std::optional<PowerHistogram>& histogram, const char* unit) {
  return histogram ? json_from_histogram(*histogram, unit) : Json(nullptr);
}

Json json_from_lifetimes(const LifetimeHistograms& lifetimes) {
  return {{"by_events", json_from_histogram(lifetimes.by_events, "events")},
          {"by_time", json_from_histogram(lifetimes.by_ns, "ns")},
          {"unknown_count", lifetimes.unknown_count},
          {"unknown_bytes", lifetimes.unknown_bytes}};
}

Json json_from_high_water(const HighWater& mark) {
  return {
      {"events", mark.position}, {"since_start_ns", or_null(mark.since_start_ns)}, {"in_use_bytes", mark.in_use_bytes}};
}

}  // namespace

Json json_from_heap_metrics(const HeapMetrics& metrics) {
  Json marks = Json::array();
  for (const HighWater& mark : metrics.high_waters) marks.push_back(json_from_high_water(mark));
  return {{"rounding_waste_bytes", or_null(metrics.rounding_waste_bytes)},
          {"largest_fit",
           {{"bytes", or_null(metrics.fit.bytes)},
            {"lower_end_bytes", or_null(metrics.fit.lower_end_bytes)},
            {"upper_end_bytes", or_null(metrics.fit.upper_end_bytes)},
            {"growth_bytes", nullptr}}},
          {"free_gaps", json_from_histogram(metrics.free_gaps, "bytes")},
          {"live_sizes", json_from_histogram(metrics.live_sizes, "bytes")},
          {"age", json_from_lifetimes(metrics.ages)},
          {"allocated_bytes", metrics.allocated_bytes},
          {"allocations", metrics.allocations},
          {"allocated_bytes_per_second", or_null(metrics.allocated_bytes_per_second)},
          {"allocated_bytes_per_event", or_null(metrics.allocated_bytes_per_event)},
          {"turnover", or_null(metrics.turnover)},
          {"peak_so_far", json_from_high_water(metrics.peak_so_far)},
          {"high_water", {{"step_bytes", metrics.high_water_step_bytes}, {"moments", std::move(marks)}}},
          {"lifetime", json_from_lifetimes(metrics.lifetimes)}};
}

}  // namespace hbmscope
