// Results on traces as JSON: heaps, their metrics, events, failures, and what a trace contains besides blocks: facts
// about the job, counters, attributes, modules. app/cli/JSON.md describes the schema.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/heap_metrics.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/job_facts.h"
#include "analysis/query/reported_rows.h"
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

nlohmann::ordered_json json_from_job_facts(const std::vector<JobFactRow>& facts);
nlohmann::ordered_json json_from_counter_rows(const std::vector<CounterRow>& rows);
nlohmann::ordered_json json_from_attribute_rows(const std::vector<AttributeRow>& rows);
nlohmann::ordered_json json_from_modules(const std::vector<ModuleRow>& rows);

nlohmann::ordered_json json_from_heap_metrics(const HeapMetrics& metrics);

}  // namespace hbmscope
