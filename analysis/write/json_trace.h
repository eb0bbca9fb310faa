// A trace's answers as JSON: heaps, events, failures. The schema is described in app/cli/JSON.md.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/query/trace_series.h"

namespace hbmscope {

// The keys format, moment, heaps, events and failures.
void add_moment(nlohmann::ordered_json& json, const Trace& trace, const Moment& moment,
                const std::vector<StreamState>& states);

nlohmann::ordered_json json_from_heap_rows(const std::vector<HeapRow>& rows);
nlohmann::ordered_json json_from_event_counts(const EventCounts& counts);
nlohmann::ordered_json json_from_failure_rows(const std::vector<FailureRow>& rows);
nlohmann::ordered_json json_from_trace_series(const std::vector<TraceSeriesPoint>& points);
nlohmann::ordered_json json_from_moment(const Trace& trace, const Moment& moment);

}  // namespace hbmscope
