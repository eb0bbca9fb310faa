#include "analysis/write/json_trace.h"

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

}  // namespace

Json json_from_heap_rows(const std::vector<HeapRow>& rows) {
  Json list = Json::array();
  for (const HeapRow& row : rows)
    list.push_back({{"name", row.name},
                    {"kind", or_null(row.memory_kind)},
                    {"layer", row.layer},
                    {"device", or_null(row.device)},
                    {"in_use_bytes", row.in_use_bytes},
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
  if (counts.skipped > 0) json["skipped"] = counts.skipped;  // Of a running job alone.
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
  for (const FailureRow& row : rows) {
    Json json = {{"asked_bytes", row.asked_bytes},
                 {"rounded_bytes", or_null(row.rounded_bytes)},
                 {"available_bytes", or_null(row.available_bytes)},
                 {"used_bytes", or_null(row.used_bytes)},
                 {"total_free_bytes", or_null(row.total_free_bytes)},
                 {"largest_free_bytes", or_null(row.largest_free_bytes)},
                 {"pool_bytes", or_null(row.pool_bytes)},
                 {"limit_bytes", or_null(row.limit_bytes)},
                 {"memory_space", or_null(row.memory_space)},
                 {"device", or_null(row.device)},
                 {"allocator", or_null(row.allocator)}};
    Json unknowns = Json::array();
    for (const auto& [key, value] : json.items())
      if (value.is_null()) unknowns.push_back(key);
    // These hold a figure, and it is not exact.
    if (row.is_inexact)
      for (const char* key : {"used_bytes", "total_free_bytes", "largest_free_bytes", "pool_bytes"})
        if (!json[key].is_null()) unknowns.push_back(key);
    json["unknowns"] = std::move(unknowns);
    json["is_inexact"] = row.is_inexact;
    json["reason"] = or_null(row.reason);
    json["event"] = row.event;
    json["since_start_ns"] = or_null(row.since_start_ns);
    json["own_line"] = or_null(row.own_line);
    json["is_pending"] = row.is_pending;
    list.push_back(std::move(json));
  }
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

}  // namespace hbmscope
