// Of each heap sizes, gaps, ages, lifetimes, churn and high-water marks; of each device why its pool is larger than
// what was requested.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/failure.h"
#include "analysis/answers/heaps.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

struct StepKeys {
  std::string_view from, to;
  Unit unit;
};
constexpr StepKeys in_bytes{"from_bytes", "to_bytes", Unit::bytes}, in_events{"from_events", "to_events", Unit::count},
    in_ns{"from_ns", "to_ns", Unit::nanoseconds};

Table table_of_steps(std::string key, std::string title, const PowerHistogram& histogram, const StepKeys& keys) {
  const auto steps = histogram.steps();
  std::uint64_t most = 0;
  for (const PowerHistogram::Step& step : steps) most = std::max(most, step.bytes);
  std::vector<std::vector<Value>> cells;
  for (const PowerHistogram::Step& step : steps)
    cells.push_back({step.from, value_of(step.to), step.count, step.bytes, share_value(step.bytes, most)});
  return {.key = std::move(key),
          .title = std::move(title),
          .columns = {{.key = keys.from, .title = "From", .unit = keys.unit},
                      {.key = keys.to, .title = "To", .unit = keys.unit},
                      {.key = "count", .title = "Blocks", .unit = Unit::count},
                      {.key = "bytes", .title = "Bytes", .unit = Unit::bytes, .share = 1},
                      {.unit = Unit::share}},
          .rows = std::move(cells),
          .layout = Layout::bars,
          .shown = steps.size()};
}

Document part_of_lifetimes(std::string key, const std::string& what, const LifetimeHistograms& lifetimes) {
  Document part{.key = std::move(key)};
  part.add(table_of_steps("by_events", what + ", in events", lifetimes.by_events, in_events));
  if (lifetimes.by_ns)
    part.add(table_of_steps("by_time", what + ", in time", *lifetimes.by_ns, in_ns));
  else
    part.add(Absent{"by_time"});
  part.add(Figures{{{"unknown_count", lifetimes.unknown_count, Unit::count},
                    {"unknown_bytes", lifetimes.unknown_bytes, Unit::bytes}}});
  if (lifetimes.unknown_count > 0)
    part.add(Sentence{.text = fmt::format("Unknown, because older than the trace: {}, {}.",
                                          text_from_count_of(lifetimes.unknown_count, "block"),
                                          text_from_bytes(lifetimes.unknown_bytes)),
                      .tone = Tone::dim});
  return part;
}

Figures figures_of_mark(const HighWater& mark) {
  return {{{"events", mark.position, Unit::count},
           {"since_start_ns", value_of(mark.since_start_ns), Unit::nanoseconds},
           {"in_use_bytes", mark.in_use_bytes, Unit::bytes}}};
}

void add_high_waters(Document& document, const HeapMetrics& metrics) {
  Document peak{.key = "peak_so_far", .audience = Audience::programs};
  peak.add(figures_of_mark(metrics.peak_so_far));
  document.add(std::move(peak));
  std::vector<std::vector<Value>> cells;
  for (const HighWater& mark : metrics.high_waters)
    cells.push_back({mark.in_use_bytes, mark.position, value_of(mark.since_start_ns)});
  Table table{.key = "moments",
              .columns = {{.key = "in_use_bytes", .title = "In use", .unit = Unit::bytes},
                          {.key = "events", .title = "After events", .unit = Unit::count},
                          {.key = "since_start_ns", .title = "Time", .unit = Unit::time, .rank = 1}},
              .rows = cells};
  Document marks{.key = "high_water", .audience = Audience::programs};
  marks.add(Figures{{{"step_bytes", metrics.high_water_step_bytes, Unit::bytes}}});
  marks.add(table);
  document.add(std::move(marks));
  cells.push_back(
      {metrics.peak_so_far.in_use_bytes, metrics.peak_so_far.position, value_of(metrics.peak_so_far.since_start_ns)});
  table.title = fmt::format("High-water marks, in steps of at least {}; the last one is the peak so far",
                            text_from_bytes(metrics.high_water_step_bytes));
  table.shown = cells.size();
  table.rows = std::move(cells);
  document.add(for_readers(std::move(table)));
}

std::string fit_text(const HeapMetrics& metrics) {
  if (!metrics.fit.bytes) return "Largest free block: unknown, because the source does not report free memory.";
  std::string text = fmt::format("Largest free block: {}; whether the pool can grow is unknown",
                                 text_from_bytes(*metrics.fit.bytes));
  if (metrics.fit.lower_end_bytes)
    text += fmt::format(" (lower end {}, upper end {})", text_from_bytes(*metrics.fit.lower_end_bytes),
                        text_from_known_bytes(metrics.fit.upper_end_bytes));
  return text + ".";
}

std::string churn_text(const HeapMetrics& metrics) {
  std::string text = fmt::format("Allocated so far: {} in {} allocations", text_from_bytes(metrics.allocated_bytes),
                                 text_from_count(metrics.allocations));
  if (metrics.allocated_bytes_per_second)
    text += fmt::format(", {}/s", text_from_bytes(*metrics.allocated_bytes_per_second));
  if (metrics.allocated_bytes_per_event)
    text += fmt::format(", {} per event", text_from_bytes(*metrics.allocated_bytes_per_event));
  if (metrics.turnover) text += fmt::format(", {:.1f}x the peak", *metrics.turnover);
  return text + ".";
}

Document part_of_heap(const HeapMetrics& metrics) {
  Document part{.key = "metrics"};
  part.add(Sentence{.text = "Rounding waste: " + text_from_known_bytes(metrics.rounding_waste_bytes) + "."});
  part.add(Sentence{.text = fit_text(metrics)});
  part.add(Sentence{.text = churn_text(metrics)});
  part.add(Figures{{{"rounding_waste_bytes", value_of(metrics.rounding_waste_bytes), Unit::bytes}}});
  Document fit{.key = "largest_fit"};
  fit.add(Figures{{{"bytes", value_of(metrics.fit.bytes), Unit::bytes},
                   {"lower_end_bytes", value_of(metrics.fit.lower_end_bytes), Unit::bytes},
                   {"upper_end_bytes", value_of(metrics.fit.upper_end_bytes), Unit::bytes},
                   {"growth_bytes", {}, Unit::bytes}}});
  part.add(std::move(fit));
  part.add(Figures{{{"allocated_bytes", metrics.allocated_bytes, Unit::bytes},
                    {"allocations", metrics.allocations, Unit::count},
                    {"allocated_bytes_per_second", value_of(metrics.allocated_bytes_per_second), Unit::bytes},
                    {"allocated_bytes_per_event", value_of(metrics.allocated_bytes_per_event), Unit::bytes},
                    {"turnover", value_of(metrics.turnover)}}});
  add_high_waters(part, metrics);
  if (metrics.free_gaps)
    part.add(table_of_steps("free_gaps", "Free gaps, by size", *metrics.free_gaps, in_bytes));
  else
    part.add(Absent{"free_gaps"});
  part.add(table_of_steps("live_sizes", "Live blocks, by size", metrics.live_sizes, in_bytes));
  part.add(part_of_lifetimes("age", "Age of live blocks", metrics.ages));
  part.add(part_of_lifetimes("lifetime", "Lifetime of freed blocks", metrics.lifetimes));
  return part;
}

Result<Document> describe_metrics(const AnswerInput& input) {
  if (input.trace == nullptr)
    return Failure(refusal("a profile has no metrics: it has no heaps and no events",
                           "Remove --metrics, or use a snapshot, log or recording."));
  const auto metrics = compute_heap_metrics(*input.trace, *input.states, {}, input.control);
  if (!metrics) return Failure(refusal("it was cancelled", "Ask again."));
  const std::vector<HeapRow> rows = compute_heap_rows(*input.trace, *input.states);
  Documents heaps{.key = "heaps", .audience = Audience::everyone};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Document& heap = heaps.list.emplace_back(Document{.title = "Metrics of " + rows[i].label});
    heap.add(Figures{{{"name", rows[i].name}}});
    heap.add(part_of_heap((*metrics)[i]));
  }
  Document document;
  document.add(std::move(heaps));
  return document;
}

// A device's pools together, by one of their heaps.
struct DevicePool {
  HeapKey heap;
  std::string name;
};
std::vector<DevicePool> find_device_pools(const AnswerInput& input) {
  std::vector<DevicePool> pools;
  const auto counts = find_counted_heaps(*input.trace);
  std::set<std::pair<std::size_t, std::uint32_t>> seen;
  for (const HeapRow& row : compute_heap_rows(*input.trace, *input.states))
    if (counts[row.stream][row.heap] && row.device && row.memory_kind == "device" &&
        seen.emplace(row.stream, *row.device).second)
      pools.push_back({{static_cast<std::uint32_t>(row.stream), row.heap}, row.label});
  return pools;
}

// One row for each time, and one column for each cost that ever was one.
Table table_of_costs_over_time(std::span<const PoolCosts> times) {
  Table table{.title = "Over time",
              .columns = {{.title = "Events", .unit = Unit::count},
                          {.title = "Time", .unit = Unit::time},
                          {.title = "Pool", .unit = Unit::bytes},
                          {.title = "Requested", .unit = Unit::bytes}}};
  while (!times.empty() && times.front().pool_bytes == 0) times = times.subspan(1);
  if (times.size() < 2) return table;
  std::vector<std::vector<Value>> cells;
  for (const PoolCosts& costs : times)
    cells.push_back({costs.position, value_of(costs.since_start_ns), costs.pool_bytes, costs.requested_bytes});
  for (std::size_t part = 0; part < times.front().parts.size(); ++part) {
    const auto is_zero = [&](const PoolCosts& one) { return one.parts[part].bytes == 0; };
    if (std::all_of(times.begin(), times.end(), is_zero)) continue;
    table.columns.push_back({.title = text_from_pool_cost(times.front().parts[part].cost), .unit = Unit::bytes});
    for (std::size_t i = 0; i < times.size(); ++i) cells[i].emplace_back(times[i].parts[part].bytes);
  }
  table.shown = cells.size();
  table.rows = std::move(cells);
  return table;
}

Result<Document> describe_pool_costs_answer(const AnswerInput& input) {
  Document document;
  if (input.trace == nullptr) return document;
  const std::size_t times_max = input.is_for(Audience::programs) ? 256 : 12;
  Documents list{.key = "pool_costs"};
  for (const DevicePool& pool : find_device_pools(input)) {
    const std::uint64_t end = input.trace->streams[pool.heap.stream].end_position();
    const std::uint64_t now = input.moment->positions[pool.heap.stream];
    PassControl own_control;
    const auto costs = compute_pool_costs(*input.trace, pool.heap, positions_over_time(end, now, times_max),
                                          input.control != nullptr ? *input.control : own_control);
    Documents times{.key = "times"};
    if (costs)
      for (const PoolCosts& one : *costs) times.list.push_back(describe_pool_costs(one, pool.name));
    list.list.emplace_back()
        .add(Figures{{{"heap", pool.name}, {"unknown", costs ? Value() : Value(costs.error().what)}}})
        .add(std::move(times));
    if (!costs) {
      document.add(Sentence{.text = fmt::format("Why the pool of {} is larger than what was requested: unknown, "
                                                "because {}.",
                                                pool.name, costs.error().what)});
      continue;
    }
    Document shown{.audience = Audience::readers};
    for (const PoolCosts& one : *costs)
      if (one.position == now) shown.add(describe_pool_costs(one, "the pool of " + pool.name));
    shown.add(table_of_costs_over_time(*costs));
    document.add(std::move(shown));
  }
  document.add(std::move(list));
  return document;
}

}  // namespace

constinit const AnswerRow metrics_answer{
    .name = "metrics",
    .title = "Metrics",
    .help = "Free gaps, sizes, ages, lifetimes, churn and peaks of each heap, and what each pool costs",
    .flag = "--metrics",
    .needs_trace = true,
    .describe = describe_metrics,
};
// With --metrics, too.
constinit const AnswerRow pool_costs_answer{
    .name = "pool_costs",
    .title = "Pool costs",
    .help = "Why the pool of each device is larger than what was requested",
    .flag = "--metrics",
    .needs_trace = true,
    .describe = describe_pool_costs_answer,
};

}  // namespace hbmscope
