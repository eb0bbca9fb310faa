// The figures of a trace at one time, as monitoring systems take them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/trace/moment.h"

namespace hbmscope {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;  // {"pod", "trainer-0"}

struct MetricSample {
  MetricLabels labels;
  std::uint64_t value = 0;
};
enum class MetricKind : std::uint8_t {
  gauge_bytes,
  counter,  // Counts what happened since the trace began.
};
struct Metric {
  std::string_view name, help;  // "in_use", "What blocks of the heap take, rounding included."
  MetricKind kind = MetricKind::gauge_bytes;
  std::vector<MetricSample> samples;
};

// Each heap that counts (trace/layers.h) with the labels heap, device, uuid, rank and process, where known, and those
// of `more`. A figure that the source can't know is left out, and so is a metric without any.
std::vector<Metric> compute_metrics(const Trace& trace, const std::vector<StreamState>& states,
                                    const MetricLabels& more);

// In Prometheus's text format, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats):
// "hbmscope_in_use_bytes", "hbmscope_out_of_memory_total".
std::string prometheus_from_metrics(const std::vector<Metric>& metrics);

// As one request of the OpenTelemetry protocol in JSON, on one line: an ExportMetricsServiceRequest of
// opentelemetry-proto 1.x (https://opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"). "hbmscope.in_use" with
// the unit By.
struct OtlpSource {
  std::int64_t time_ns = 0, begun_ns = 0;  // Since 1970. Counters were 0 at `begun_ns`. 0 if unknown.
  std::string host, instance;              // "host.name" and "service.instance.id". Empty if unknown.
};
// When the first stream began, in nanoseconds since 1970. 0 if unknown.
std::int64_t find_begin_ns(const Trace& trace);
std::string otlp_from_metrics(const std::vector<Metric>& metrics, const OtlpSource& source);

}  // namespace hbmscope
