#include "analysis/write/metrics.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

using Json = nlohmann::ordered_json;

std::string number_or_empty(const std::optional<std::uint32_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

MetricLabels labels_of(const Trace& trace, const HeapRow& row, const MetricLabels& more) {
  MetricLabels labels{{"heap", row.name},
                      {"device", number_or_empty(row.device)},
                      {"uuid", row.uuid},
                      {"rank", number_or_empty(row.rank)},
                      {"process", std::string(trace.streams[row.stream].definitions().job_fact("process"))}};
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

void add(Metric& metric, const MetricLabels& labels, std::optional<std::uint64_t> value) {
  if (value) metric.samples.push_back({labels, *value});
}

std::string label_value(std::string_view value) {
  std::string text;
  for (const char c : valid_utf8(value)) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

Json attributes_from(const MetricLabels& labels) {
  Json attributes = Json::array();
  for (const auto& [key, value] : labels)
    attributes.push_back({{"key", key}, {"value", {{"stringValue", valid_utf8(value)}}}});
  return attributes;
}

// 64-bit numbers are strings in the JSON of Protobuf.
Json points_from(const Metric& metric, const OtlpSource& source) {
  Json points = Json::array();
  for (const MetricSample& sample : metric.samples) {
    Json point = {{"attributes", attributes_from(sample.labels)}};
    if (metric.kind == MetricKind::counter && source.begun_ns > 0)
      point["startTimeUnixNano"] = std::to_string(source.begun_ns);
    point["timeUnixNano"] = std::to_string(source.time_ns);
    point["asInt"] = std::to_string(sample.value);
    points.push_back(std::move(point));
  }
  return points;
}

Json otlp_metric(const Metric& metric, const OtlpSource& source) {
  constexpr int cumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE
  Json json = {{"name", fmt::format("hbmscope.{}", metric.name)}, {"description", metric.help}};
  if (metric.kind == MetricKind::gauge_bytes) {
    json["unit"] = "By";
    json["gauge"] = {{"dataPoints", points_from(metric, source)}};
  } else {
    json["unit"] = "1";
    json["sum"] = {
        {"dataPoints", points_from(metric, source)}, {"aggregationTemporality", cumulative}, {"isMonotonic", true}};
  }
  return json;
}

}  // namespace

std::vector<Metric> compute_metrics(const Trace& trace, const std::vector<StreamState>& states,
                                    const MetricLabels& more) {
  using enum MetricKind;
  Metric in_use{"in_use", "What blocks of the heap take, rounding included.", gauge_bytes, {}};
  Metric requested{"requested", "What the program requested for these blocks.", gauge_bytes, {}};
  Metric pool{"pool", "What the heap has of the device.", gauge_bytes, {}};
  Metric largest_free{"largest_free", "The largest free block of the pool.", gauge_bytes, {}};
  Metric peak{"peak_in_use", "The most that was in use.", gauge_bytes, {}};
  Metric limit{"limit", "The most that the heap's pool may have.", gauge_bytes, {}};
  Metric device{"device", "All memory of the heap's device.", gauge_bytes, {}};
  Metric outside{"outside_pools", "What the process has of the device outside of its pools.", gauge_bytes, {}};
  Metric failures{"out_of_memory", "Requests that failed for lack of memory.", counter, {}};
  Metric events{"events", "Allocations, frees and other events that were recorded.", counter, {}};
  Metric lost{"lost_events", "Events that could not be recorded.", counter, {}};
  const auto counted = find_counted_heaps(trace);
  for (const HeapRow& row : compute_heap_rows(trace, states)) {
    const MetricLabels labels = labels_of(trace, row, more);
    add(outside, labels, row.outside_pools_bytes);
    if (!counted[row.stream][row.heap]) continue;
    if (!row.is_in_use_unknown) add(in_use, labels, row.in_use_bytes);
    add(requested, labels, row.requested_bytes);
    add(pool, labels, row.pool_bytes);
    add(largest_free, labels, row.largest_free_bytes);
    add(peak, labels, row.peak_in_use_bytes);
    const std::uint64_t position = states[row.stream].position();
    add(limit, labels, find_limit_bytes(trace.streams[row.stream], row.heap, position));
    add(device, labels, find_device_bytes(trace.streams[row.stream], row.heap, position));
  }
  const EventCounts counts = compute_event_counts(trace);
  add(failures, more, counts.failed_requests);
  add(events, more, counts.total);
  add(lost, more, counts.lost);
  std::vector<Metric> metrics;
  for (Metric* metric :
       {&in_use, &requested, &pool, &largest_free, &peak, &limit, &device, &outside, &failures, &events, &lost})
    if (!metric->samples.empty()) metrics.push_back(std::move(*metric));
  return metrics;
}

std::string prometheus_from_metrics(const std::vector<Metric>& metrics) {
  std::string text;
  for (const Metric& metric : metrics) {
    const bool is_gauge = metric.kind == MetricKind::gauge_bytes;
    const std::string name = fmt::format("hbmscope_{}{}", metric.name, is_gauge ? "_bytes" : "_total");
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, metric.help, name, is_gauge ? "gauge" : "counter");
    for (const MetricSample& sample : metric.samples) {
      std::string words;
      for (const auto& [key, value] : sample.labels)
        words += fmt::format("{}{}=\"{}\"", words.empty() ? "" : ",", key, label_value(value));
      text += fmt::format("{}{} {}\n", name, words.empty() ? "" : "{" + words + "}", sample.value);
    }
  }
  return text;
}

std::int64_t find_begin_ns(const Trace& trace) {
  std::int64_t begun_ns = 0;
  for (const Stream& stream : trace.streams)
    if (const auto begun = stream.clocks().realtime_of(stream.first_time_ns()); begun && stream.has_times())
      begun_ns = begun_ns == 0 ? *begun : std::min(begun_ns, *begun);
  return begun_ns;
}

std::string otlp_from_metrics(const std::vector<Metric>& metrics, const OtlpSource& source) {
  Json list = Json::array();
  for (const Metric& metric : metrics) list.push_back(otlp_metric(metric, source));
  const Json scope = {{"scope", {{"name", "hbmscope"}}}, {"metrics", std::move(list)}};
  MetricLabels about{
      {"service.name", "hbmscope"}, {"service.instance.id", source.instance}, {"host.name", source.host}};
  std::erase_if(about, [](const auto& attribute) { return attribute.second.empty(); });
  const Json resource = {{"resource", {{"attributes", attributes_from(about)}}},
                         {"scopeMetrics", Json::array({scope})}};
  return Json{{"resourceMetrics", Json::array({resource})}}.dump() + "\n";
}

}  // namespace hbmscope
