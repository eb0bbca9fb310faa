#include "analysis/write/json_trace.h"

#include "analysis/answers/failure.h"
#include "analysis/answers/heaps.h"
#include "analysis/document/json.h"
#include "analysis/write/json_optional.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json json_from_event_counts(const EventCounts& counts) {
  return json_from_document(describe_event_counts(counts));
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

Json json_from_moment(const Trace& trace, const Moment& moment) {
  return json_from_document(describe_moment(trace, moment));
}

}  // namespace hbmscope
