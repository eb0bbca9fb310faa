#include "analysis/write/metrics_text.h"

#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/units/utf8.h"

namespace hbmscope {
namespace {

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

// One metric with its samples, which must follow each other.
class Metric {
 public:
  Metric(std::string_view name, std::string_view type, std::string_view help)
      : name_(name), head_(fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type)) {}

  void add(const MetricLabels& labels, std::optional<std::uint64_t> value) {
    if (!value) return;
    std::string words;
    for (const auto& [key, text] : labels)
      if (!text.empty()) words += fmt::format("{}{}=\"{}\"", words.empty() ? "" : ",", key, label_value(text));
    samples_ += fmt::format("{}{} {}\n", name_, words.empty() ? "" : "{" + words + "}", *value);
  }
  std::string text() const { return samples_.empty() ? std::string() : head_ + samples_; }

 private:
  std::string name_, head_, samples_;
};

std::string number_or_empty(const std::optional<std::uint32_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

}  // namespace

std::string metrics_text(const Trace& trace, const std::vector<StreamState>& states, const MetricLabels& more) {
  Metric in_use("hbmscope_in_use_bytes", "gauge", "What blocks of the heap take, rounding included.");
  Metric requested("hbmscope_requested_bytes", "gauge", "What the program requested for these blocks.");
  Metric pool("hbmscope_pool_bytes", "gauge", "What the heap has of the device.");
  Metric largest_free("hbmscope_largest_free_bytes", "gauge", "The largest free block of the pool.");
  Metric peak("hbmscope_peak_in_use_bytes", "gauge", "The most that was in use.");
  Metric outside("hbmscope_outside_pools_bytes", "gauge", "What the process has of the device outside of its pools.");
  Metric failures("hbmscope_out_of_memory_total", "counter", "Requests that failed for lack of memory.");
  Metric events("hbmscope_events_total", "counter", "Allocations, frees and other events that were recorded.");
  Metric lost("hbmscope_lost_events_total", "counter", "Events that could not be recorded.");
  const auto counted = find_counted_heaps(trace);
  for (const HeapRow& row : compute_heap_rows(trace, states)) {
    MetricLabels labels{{"heap", row.name},
                        {"device", number_or_empty(row.device)},
                        {"uuid", row.uuid},
                        {"rank", number_or_empty(row.rank)},
                        {"process", std::string(trace.streams[row.stream].definitions().job_fact("process"))}};
    labels.insert(labels.end(), more.begin(), more.end());
    outside.add(labels, row.outside_pools_bytes);
    if (!counted[row.stream][row.heap]) continue;
    if (!row.is_in_use_unknown) in_use.add(labels, row.in_use_bytes);
    requested.add(labels, row.requested_bytes);
    pool.add(labels, row.pool_bytes);
    largest_free.add(labels, row.largest_free_bytes);
    peak.add(labels, row.peak_in_use_bytes);
  }
  const EventCounts counts = compute_event_counts(trace);
  failures.add(more, counts.failed_requests);
  events.add(more, counts.total);
  lost.add(more, counts.lost);
  std::string text;
  for (const Metric* metric : {&in_use, &requested, &pool, &largest_free, &peak, &outside, &failures, &events, &lost})
    text += metric->text();
  return text;
}

}  // namespace hbmscope
