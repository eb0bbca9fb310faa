// The report section of --metrics: sizes, gaps, ages, lifetimes, churn and high-water marks of each heap.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/failure.h"
#include "analysis/document/json.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/query/heap_rows.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_trace.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

std::string time_text(std::uint64_t ns) {
  return text_from_value(signed_from(ns), "nanoseconds");
}
using TextOf = std::string (*)(std::uint64_t);

std::string steps_text(const PowerHistogram& histogram, std::string_view head, TextOf text_of,
                       const Terminal& terminal) {
  std::string text = terminal.paint(fmt::format("  {}", head), Ink::dim) + "\n";
  const auto steps = histogram.steps();
  std::int64_t most = 0;
  for (const PowerHistogram::Step& step : steps) most = std::max(most, signed_from(step.bytes));
  for (const PowerHistogram::Step& step : steps) {
    const std::string range =
        step.to ? fmt::format("{} to {}", text_of(step.from), text_of(*step.to)) : text_of(step.from) + " or more";
    const std::string bar = terminal.bar(signed_from(step.bytes), most, 20);
    text += fmt::format("    {}  {:>10}  {:>10}{}\n", pad_right(range, 24), text_from_count(step.count),
                        text_from_bytes(step.bytes), bar.empty() ? "" : "  " + bar);
  }
  if (steps.empty()) text += "    none\n";
  return text;
}

std::string lifetimes_text(const LifetimeHistograms& lifetimes, std::string_view what, std::string_view of,
                           const Terminal& terminal) {
  std::string text;
  if (lifetimes.by_ns)
    text += steps_text(*lifetimes.by_ns, fmt::format("{} of {}, by time", what, of), time_text, terminal);
  text += steps_text(lifetimes.by_events, fmt::format("{} of {}, by events", what, of), text_from_count<std::uint64_t>,
                     terminal);
  if (lifetimes.unknown_count > 0)
    text += fmt::format("    unknown (older than the trace): {} blocks, {}\n", text_from_count(lifetimes.unknown_count),
                        text_from_bytes(lifetimes.unknown_bytes));
  return text;
}

std::string mark_text(const HighWater& mark) {
  std::string text = fmt::format("    {:>10}  ", text_from_bytes(mark.in_use_bytes));
  if (mark.position == 0) return text + "before the first event\n";
  text += fmt::format("after {} events", mark.position);
  if (mark.since_start_ns) text += ", " + seconds_text(*mark.since_start_ns);
  return text + "\n";
}

std::string fit_text(const HeapMetrics& metrics) {
  if (!metrics.fit.bytes) return "  largest free block: unknown, because the source does not report free memory\n";
  std::string text = fmt::format("  largest free block: {}; whether the pool can grow is unknown",
                                 text_from_bytes(*metrics.fit.bytes));
  if (metrics.fit.lower_end_bytes)
    text += fmt::format(" (lower end {}, upper end {})", text_from_bytes(*metrics.fit.lower_end_bytes),
                        text_from_known_bytes(metrics.fit.upper_end_bytes));
  return text + "\n";
}

std::string churn_text(const HeapMetrics& metrics) {
  std::string text = fmt::format("  allocated so far: {} in {} allocations", text_from_bytes(metrics.allocated_bytes),
                                 text_from_count(metrics.allocations));
  if (metrics.allocated_bytes_per_second)
    text += fmt::format(", {}/s", text_from_bytes(static_cast<std::uint64_t>(*metrics.allocated_bytes_per_second)));
  if (metrics.allocated_bytes_per_event)
    text +=
        fmt::format(", {} per event", text_from_bytes(static_cast<std::uint64_t>(*metrics.allocated_bytes_per_event)));
  if (metrics.turnover) text += fmt::format(", {:.1f}x the peak", *metrics.turnover);
  return text + "\n";
}

// A device's pools together, by one of their heaps.
struct DevicePool {
  HeapKey heap;
  std::string name;
};
std::vector<DevicePool> find_pools(const Source& source) {
  std::vector<DevicePool> pools;
  const auto counts = find_counted_heaps(*source.trace);
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  for (const HeapRow& row : compute_heap_rows(*source.trace, source.states))
    if (counts[row.stream][row.heap] && row.device && row.memory_kind == "device" &&
        seen.emplace(row.stream, *row.device).second)
      pools.push_back({{static_cast<std::uint32_t>(row.stream), row.heap}, row.label});
  return pools;
}

Result<std::vector<PoolCosts>> load_pool_costs(const Source& source, const DevicePool& pool, std::size_t times) {
  const std::uint64_t end = source.trace->streams[pool.heap.stream].end_position();
  const std::uint64_t now = source.moment.positions[pool.heap.stream];
  PassControl control;
  const ProgressLine progress("Pool", control);
  return compute_pool_costs(*source.trace, pool.heap, positions_over_time(end, now, times), control);
}

// One row for each time, and one column for each cost.
std::string text_from_pool_costs_over_time(std::span<const PoolCosts> times, const Terminal& terminal) {
  while (!times.empty() && times.front().pool_bytes == 0) times = times.subspan(1);
  if (times.size() < 2) return {};
  const auto is_zero = [&](std::size_t part) {
    return std::all_of(times.begin(), times.end(), [&](const PoolCosts& one) { return one.parts[part].bytes == 0; });
  };
  std::vector<TextColumn> columns = {{"events", true}, {"time", true}, {"pool", true}, {"requested", true}};
  for (const PoolCostPart& part : times.front().parts) columns.push_back({text_from_pool_cost(part.cost), true});
  std::vector<std::vector<std::string>> cells;
  for (const PoolCosts& costs : times) {
    std::vector<std::string> row = {text_from_count(costs.position),
                                    costs.since_start_ns ? seconds_text(*costs.since_start_ns) : "",
                                    text_from_bytes(costs.pool_bytes), text_from_bytes(costs.requested_bytes)};
    for (std::size_t part = 0; part < costs.parts.size(); ++part)
      row.push_back(is_zero(part) ? std::string() : text_from_bytes(costs.parts[part].bytes));
    cells.push_back(std::move(row));
  }
  return "\nOver time\n" + text_from_columns(columns, cells, terminal.style());
}

std::string pool_text(const Source& source, const DevicePool& pool, const Terminal& terminal) {
  constexpr std::size_t times = 12;
  const auto costs = load_pool_costs(source, pool, times);
  if (!costs)
    return fmt::format("\nWhy the pool of {} is larger than what was requested: unknown, because {}\n",
                       printable(pool.name), costs.error().what);
  const std::uint64_t now = source.moment.positions[pool.heap.stream];
  std::string text;
  for (const PoolCosts& one : *costs)
    if (one.position == now)
      text =
          "\n" + text_from_document(describe_pool_costs(one, "the pool of " + printable(pool.name)), terminal.style());
  return text + text_from_pool_costs_over_time(*costs, terminal);
}

nlohmann::ordered_json json_from_pool(const Source& source, const DevicePool& pool) {
  constexpr std::size_t times = 256;
  nlohmann::ordered_json json = {{"heap", pool.name}, {"unknown", nullptr}, {"times", nlohmann::ordered_json::array()}};
  const auto costs = load_pool_costs(source, pool, times);
  if (!costs)
    json["unknown"] = costs.error().what;
  else
    for (const PoolCosts& one : *costs)
      json["times"].push_back(json_from_document(describe_pool_costs(one, pool.name)));
  return json;
}

std::string heap_text(const HeapRow& row, const HeapMetrics& metrics, const Terminal& terminal) {
  std::string text = terminal.paint(fmt::format("Metrics of {}", printable(row.label)), Ink::bold) + "\n";
  text += fmt::format("  rounding waste: {}\n", text_from_known_bytes(metrics.rounding_waste_bytes));
  text += fit_text(metrics) + churn_text(metrics);
  text += terminal.paint(fmt::format("  high-water marks, in steps of at least {}; the last one is the peak so far",
                                     text_from_bytes(metrics.high_water_step_bytes)),
                         Ink::dim) +
          "\n";
  for (const HighWater& mark : metrics.high_waters) text += mark_text(mark);
  text += mark_text(metrics.peak_so_far);
  if (metrics.free_gaps)
    text += steps_text(*metrics.free_gaps, "free gaps, by size", text_from_bytes<std::uint64_t>, terminal);
  text += steps_text(metrics.live_sizes, "live blocks, by size", text_from_bytes<std::uint64_t>, terminal);
  text += lifetimes_text(metrics.ages, "age", "live blocks", terminal);
  return text + lifetimes_text(metrics.lifetimes, "lifetime", "freed blocks", terminal);
}

// One per heap of the trace, with progress on a terminal.
Result<std::vector<HeapMetrics>> load_metrics(const Source& source) {
  if (!source.trace)
    return Failure(refusal("a profile has no metrics: it has no heaps and no events",
                           "Remove --metrics, or use a snapshot, log or recording."));
  PassControl control;
  const ProgressLine progress("Metrics", control);
  return *compute_heap_metrics(*source.trace, source.states, {}, &control);
}

Result<std::string> metrics_text(const ReportInput& input, const ReportStyle& style) {
  const auto metrics = load_metrics(input.source);
  if (!metrics) return Failure(metrics.error());
  const std::vector<HeapRow> rows = compute_heap_rows(*input.source.trace, input.source.states);
  std::string text = "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) text += heap_text(rows[i], (*metrics)[i], style.terminal);
  for (const DevicePool& pool : find_pools(input.source)) text += pool_text(input.source, pool, style.terminal);
  return text;
}

Result<void> add_metrics(nlohmann::ordered_json& json, const ReportInput& input) {
  const auto metrics = load_metrics(input.source);
  if (!metrics) return Failure(metrics.error());
  for (std::size_t i = 0; i < metrics->size(); ++i) json["heaps"][i]["metrics"] = json_from_heap_metrics((*metrics)[i]);
  json["pool_costs"] = nlohmann::ordered_json::array();
  for (const DevicePool& pool : find_pools(input.source))
    json["pool_costs"].push_back(json_from_pool(input.source, pool));
  return {};
}

}  // namespace

ReportSection metrics_section() {
  return {.name = "metrics",
          .flag = "--metrics",
          .help =
              "Also print, for each heap of a trace: free gaps, sizes, ages, lifetimes, churn, high-water marks; "
              "and for each device why the pool is larger than what was requested",
          .needs_trace = true,
          .text = metrics_text,
          .add_json = add_metrics};
}

}  // namespace hbmscope::cli
