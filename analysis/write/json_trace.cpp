#include "analysis/write/json_trace.h"

#include <fmt/format.h>

#include "analysis/answers/failure.h"
#include "analysis/document/json.h"
#include "analysis/write/json_optional.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

Json json_from_physical(const PhysicalBytes& bytes) {
  return {{"handles", bytes.handles},
          {"owned_bytes", bytes.owned_bytes},
          {"unmapped_bytes", bytes.unmapped_bytes},
          {"exported_bytes", bytes.exported_bytes},
          {"imported_bytes", bytes.imported_bytes},
          {"mapped_bytes", bytes.mapped_bytes},
          {"reserved_bytes", bytes.reserved_bytes}};
}

Json json_from_driver_pools(const std::optional<DriverPools>& pools) {
  if (!pools) return nullptr;
  return {
      {"reserved_bytes", pools->reserved_bytes}, {"used_bytes", pools->used_bytes}, {"kept_bytes", pools->kept_bytes}};
}

}  // namespace

Json json_from_heap_rows(const std::vector<HeapRow>& rows) {
  Json list = Json::array();
  for (const HeapRow& row : rows)
    list.push_back({{"name", row.name},
                    {"kind", or_null(row.memory_kind)},
                    {"layer", row.layer},
                    {"device", or_null(row.device)},
                    {"device_name", or_null(row.device_name)},
                    {"device_uuid", or_null(row.uuid)},
                    {"in_use_bytes", row.is_in_use_unknown ? Json(nullptr) : Json(row.in_use_bytes)},
                    {"requested_bytes", or_null(row.requested_bytes)},
                    {"pending_bytes", row.pending_bytes},
                    {"pool_bytes", or_null(row.pool_bytes)},
                    {"free_bytes", or_null(row.free_bytes)},
                    {"largest_free_bytes", or_null(row.largest_free_bytes)},
                    {"external_fragmentation", or_null(row.external_fragmentation)},
                    {"internal_fragmentation", or_null(row.internal_fragmentation)},
                    {"peak_in_use_bytes", row.peak_in_use_bytes},
                    {"live_blocks", row.live_blocks},
                    {"is_inexact", row.is_inexact},
                    {"inexact_since_start_ns", or_null(row.inexact_since_start_ns)},
                    {"peak_is_inexact", row.is_peak_inexact},
                    {"stream", row.stream},
                    {"file", or_null(row.file)},
                    {"rank", or_null(row.rank)},
                    {"outside_pools_bytes", or_null(row.outside_pools_bytes)},
                    {"driver_pools", json_from_driver_pools(row.driver_pools)},
                    {"physical", row.physical ? json_from_physical(*row.physical) : Json(nullptr)}});
  return list;
}

Json json_from_event_counts(const EventCounts& counts) {
  Json json{{"total", counts.total},
            {"alloc", counts.alloc},
            {"free", counts.free},
            {"driver_refusals", counts.driver_refusals},
            {"oom", counts.out_of_memory},
            {"lost", counts.lost},
            {"unknown_records", counts.unknown_records},
            {"damaged_blocks", counts.damaged_blocks},
            {"missing_blocks", counts.missing_blocks}};
  if (counts.skipped > 0) json["skipped"] = counts.skipped;  // Only in running jobs.
  return json;
}

Json json_from_trace_series(const std::vector<TraceSeriesPoint>& points) {
  Json list = Json::array();
  for (const TraceSeriesPoint& point : points) {
    Json heaps = Json::array();
    for (const SeriesHeap& heap : point.heaps)
      heaps.push_back({{"name", heap.label},
                       {"layer", heap.layer},
                       {"device", or_null(heap.device)},
                       {"peak_in_use_bytes", heap.peak_in_use_bytes},
                       {"is_peak_inexact", heap.is_peak_inexact},
                       {"in_use_bytes", heap.in_use_bytes},
                       {"curve_bytes", heap.curve}});
    list.push_back({{"file", point.file},
                    {"begun_unix_ms", point.begun_ms == 0 ? Json() : Json(point.begun_ms)},
                    {"duration_ns", or_null(point.duration_ns)},
                    {"is_finished", point.is_finished},
                    {"events", json_from_event_counts(point.events)},
                    {"heaps", std::move(heaps)}});
  }
  return list;
}

Json json_from_failure_rows(const std::vector<FailureRow>& rows) {
  Json list = Json::array();
  for (const FailureRow& row : rows) list.push_back(json_from_document(describe_failure_row(row)));
  return list;
}

void add_moment(Json& json, const Trace& trace, const Moment& moment, const std::vector<StreamState>& states) {
  json["format"] = trace.format;
  json["moment"] = json_from_moment(trace, moment);
  json["heaps"] = json_from_heap_rows(compute_heap_rows(trace, states));
  json["events"] = json_from_event_counts(compute_event_counts(trace));
  json["failures"] = json_from_failure_rows(compute_failure_rows(trace));
}

Json json_from_moment(const Trace& trace, const Moment& moment) {
  Json streams = Json::array();
  for (std::size_t i = 0; i < moment.positions.size(); ++i)
    streams.push_back({{"events", moment.positions[i]}, {"of", trace.streams[i].end_position()}});
  return {{"name", moment.text}, {"streams", std::move(streams)}};
}

Json json_from_job_facts(const std::vector<JobFactRow>& facts) {
  Json list = Json::array();
  for (const JobFactRow& fact : facts) list.push_back({{"key", fact.key}, {"values", fact.values}});
  return list;
}

Json json_from_counter_rows(const std::vector<CounterRow>& rows) {
  Json list = Json::array();
  for (const CounterRow& row : rows)
    list.push_back({{"name", row.name},
                    {"heap", or_null(row.heap)},
                    {"stream", row.stream},
                    {"value", or_null(row.value)},
                    {"least", or_null(row.least)},
                    {"most", or_null(row.most)},
                    {"samples", row.samples}});
  return list;
}

Json json_from_attribute_rows(const std::vector<AttributeRow>& rows) {
  Json list = Json::array();
  for (const AttributeRow& row : rows)
    list.push_back(
        {{"key", row.key}, {"count", row.count}, {"live_blocks", row.live_blocks}, {"live_bytes", row.live_bytes}});
  return list;
}

// Addresses exceed the range of JSON numbers.
Json json_from_modules(const std::vector<ModuleRow>& rows) {
  Json list = Json::array();
  for (const ModuleRow& row : rows)
    list.push_back({{"path", or_null(row.path)},
                    {"build_id", or_null(row.build_id)},
                    {"base_address", fmt::format("0x{:x}", row.base)},
                    {"size_bytes", row.size_bytes},
                    {"stream", row.stream}});
  return list;
}

namespace {

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
