#include "app/cli/explain.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/judge/gate.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/html_diagnosis.h"
#include "analysis/write/json.h"
#include "analysis/write/json_diagnosis.h"
#include "app/cli/cli.h"
#include "app/cli/figure_text.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/pool_costs.h"
#include "app/cli/source_verdict.h"
#include "app/cli/text_columns.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t holders_shown = 5, blockers_shown = 5, lines_max = 16, json_failures_max = 256;

// " on GPU_0_bfc (rank_1.log), line 13 of the log"
std::string place_text(const Trace& trace, const Diagnosis& diagnosis) {
  std::string text = diagnosis.facts.heap_name.empty() ? std::string() : " on " + printable(diagnosis.facts.heap_name);
  if (const std::string part = part_of_stream(trace, diagnosis.stream); trace.streams.size() > 1 && !part.empty())
    text += " (" + printable(part) + ")";
  if (diagnosis.row.line) return text + fmt::format(", line {} of the log", text_from_count(*diagnosis.row.line));
  text += fmt::format(", event {}", text_from_count(diagnosis.row.event));
  if (diagnosis.row.since_start_ns) text += fmt::format(" ({})", seconds_text(*diagnosis.row.since_start_ns));
  return text;
}

std::string head_text(const Trace& trace, const Diagnosis& diagnosis, std::size_t failures, const Terminal& terminal) {
  const std::string times = failures > 1 ? fmt::format(" {} times; the first", text_from_count(failures)) : "";
  return terminal.paint("Out of memory" + times + place_text(trace, diagnosis) + ".", Ink::bad) + "\n" +
         printable(diagnosis.cause.sentence) + "\n";
}

std::string evidence_text(const Diagnosis& diagnosis, const Terminal& terminal) {
  std::string text;
  for (const Evidence& one : diagnosis.cause.evidence) text += "  " + printable(one.text) + "\n";
  if (diagnosis.row.line && !diagnosis.row.reason.empty()) {
    constexpr std::size_t width = 200;
    const std::string_view reason = diagnosis.row.reason;
    text +=
        terminal.paint(fmt::format("  \"{}{}\"", printable(reason.substr(0, width)), reason.size() > width ? "…" : ""),
                       Ink::dim) +
        "\n";
  }
  if (!diagnosis.row.own_line.empty()) text += "  Requested by " + printable(diagnosis.row.own_line) + "\n";
  return text.empty() ? text : "\nWhy\n" + text;
}

std::string holders_text(const Holders& holders, const Terminal& terminal) {
  if (holders.rows.empty()) return {};
  constexpr std::string_view names[] = {"your code", "used for", "tag", "size"};
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < std::min(holders_shown, holders.rows.size()); ++i) {
    const Holder& one = holders.rows[i];
    cells.push_back({text_from_bytes(one.bytes),
                     holders.bytes == 0 ? std::string()
                                        : fmt::format("{:.1f} %", 100.0 * static_cast<double>(one.bytes) /
                                                                      static_cast<double>(holders.bytes)),
                     text_from_count(one.blocks), one.oldest_ns ? text_from_value(*one.oldest_ns, "nanoseconds") : "",
                     printable(one.name)});
  }
  std::string text = fmt::format("\nWhat held the memory ({} in use)\n", text_from_bytes(holders.bytes));
  text += text_from_columns({{"bytes", true},
                             {"share", true},
                             {"blocks", true},
                             {"oldest", true},
                             {std::string(names[static_cast<std::size_t>(holders.by)]), false}},
                            cells, terminal, Ink::dim);
  if (holders.rows.size() > holders_shown)
    text += fmt::format("and {} more\n", text_from_count(holders.rows.size() - holders_shown));
  return text;
}

std::string budget_text(const std::optional<DeviceBudget>& budget, const Terminal& terminal) {
  if (!budget) return {};
  std::vector<std::vector<std::string>> cells;
  for (const BudgetRow& row : budget->rows)
    cells.push_back(
        {text_from_bytes(row.bytes),
         fmt::format("{:.1f} %", 100.0 * static_cast<double>(row.bytes) / static_cast<double>(budget->total_bytes)),
         printable(row.name) + (row.is_derived ? " (the rest)" : "")});
  std::string text = fmt::format("\nThe device's {} at that time\n", text_from_bytes(budget->total_bytes));
  text += text_from_columns({{"bytes", true}, {"share", true}, {"what", false}}, cells, terminal, Ink::dim);
  if (budget->over_bytes > 0)
    text += fmt::format("over by {}: the sources contradict each other\n", text_from_bytes(budget->over_bytes));
  return text;
}

// Not where nearly all of the pool was requested: then there is nothing to explain.
std::string costs_text(const std::optional<PoolCosts>& costs, const Terminal& terminal) {
  constexpr std::uint64_t part_min = 50;
  if (!costs || costs->pool_bytes < costs->requested_bytes + costs->pool_bytes / part_min) return {};
  return text_from_pool_costs(*costs, "the pool", terminal);
}

std::string advice_text(const std::vector<Advice>& advice, const Terminal& terminal) {
  if (advice.empty()) return {};
  std::string text = "\nWhat would help\n";
  for (std::size_t i = 0; i < advice.size(); ++i) {
    const Advice& one = advice[i];
    const std::string_view mark = mark_of(one);
    text += fmt::format("  {}. {}{}\n", i + 1, printable(one.change),
                        mark.empty() ? "" : terminal.paint(fmt::format("  ({})", mark), Ink::dim));
    text += "     " + printable(one.why) + (one.price.empty() ? "" : " Price: " + printable(one.price)) + "\n";
    if (!one.proof_text.empty()) text += "     " + terminal.paint(printable(one.proof_text), Ink::good) + "\n";
  }
  return text;
}

std::string blockers_text(const Trace& trace, const Diagnosis& diagnosis) {
  const auto& place = diagnosis.facts.place;
  if (!place || place->blocks.empty() || !row_of(diagnosis.cause.immediate).has_blockers) return {};
  const Definitions& definitions = trace.streams[diagnosis.stream].definitions();
  std::string text =
      fmt::format("\nBlocking allocations (the fewest bytes whose release makes room): {}, {}\n",
                  text_from_count_of(place->blocks.size(), "block"), text_from_bytes(place->in_use_bytes));
  std::vector<LiveBlock> blocks = place->blocks;
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const LiveBlock& a, const LiveBlock& b) { return a.size > b.size; });
  for (std::size_t i = 0; i < std::min(blockers_shown, blocks.size()); ++i)
    text += fmt::format("  {:#x}  {:>10}  {}\n", blocks[i].address, text_from_bytes(blocks[i].size),
                        printable(user_code_text(definitions, blocks[i].stack)));
  if (blocks.size() > blockers_shown)
    text += fmt::format("  and {} more\n", text_from_count(blocks.size() - blockers_shown));
  if (const auto& fewest = diagnosis.facts.place_of_fewest_blocks)
    text += fmt::format("  or, the fewest blocks: {} of {} between {:#x} and {:#x}\n",
                        text_from_count_of(fewest->blocks.size(), "block"), text_from_bytes(fewest->in_use_bytes),
                        fewest->range.begin, fewest->range.end);
  return text;
}

// Only where it is less than the blocks of one place, or there is no such place.
std::string segments_text(const Diagnosis& diagnosis) {
  const auto& segments = diagnosis.segments;
  const auto& place = diagnosis.facts.place;
  if (!segments || (place && place->in_use_bytes <= segments->in_use_bytes)) return {};
  std::string text = fmt::format(
      "\nBlocking allocations in whole segments (PyTorch gives back a segment without a block): {} of {} in {} of {}\n",
      text_from_count_of(segments->blocks, "block"), text_from_bytes(segments->in_use_bytes),
      text_from_count_of(segments->segments.size(), "segment"), text_from_bytes(segments->bytes));
  if (diagnosis.facts.driver_bytes)
    text += fmt::format("  With the {} that was free, the device then has room.\n",
                        text_from_bytes(*diagnosis.facts.driver_bytes));
  return text;
}

std::string unknown_text(const CauseOfFailure& cause) {
  if (cause.unknowns.empty()) return {};
  return "\nUnknown\n  " + printable(cause.unknowns) +
         (cause.how_to_know.empty() ? "" : "\n  To know next time: " + printable(cause.how_to_know)) + "\n";
}

std::string line_text(const Trace& trace, const Diagnosis& diagnosis) {
  return fmt::format("  Out of memory{}: {}\n", place_text(trace, diagnosis), printable(diagnosis.cause.sentence));
}

// A trace in which nothing failed, at its peak.
std::string peak_text(const Trace& trace, const Terminal& terminal) {
  const HeapKey heap = choose_heap(trace, {});
  std::string text =
      trace.files.size() > 1 ? "No request failed in these files.\n" : "No request failed in this file.\n";
  if (heap.empty()) return text;
  if (const auto outlook = find_outlook(trace, heap)) text = printable(text_from_outlook(*outlook)) + "\n" + text;
  const auto moment = find_moment(trace, "peak");
  if (!moment) return text;
  const auto states = compute_states(trace, *moment);
  return text + "\nAt the peak:" + holders_text(HolderFinder(trace, states, heap).find(), terminal);
}

Json json_of_trace(const Trace& trace) {
  Json failures = Json::array();
  const auto requests = find_failed_requests(trace);
  if (!requests.empty()) {
    const Diagnosis first = diagnose(trace, requests.front(), Depth::full);
    failures.push_back(json_from_diagnosis(trace, first));
    for (std::size_t i = 1; i < std::min(json_failures_max, requests.size()); ++i) {
      const bool is_last = i + 1 == requests.size();
      const Depth depth = is_last ? Depth::without_replays : depth_of_other(first, i);
      failures.push_back(json_from_diagnosis(trace, diagnose(trace, requests[i], depth)));
    }
  }
  Json outlook = nullptr;
  if (const HeapKey heap = choose_heap(trace, {}); requests.empty() && !heap.empty())
    if (const auto found = find_outlook(trace, heap)) outlook = json_from_outlook(*found);
  return {{"schema", json_schema},
          {"files", trace.files},
          {"failed", requests.size()},
          {"failures", std::move(failures)},
          {"outlook", std::move(outlook)}};
}

// Error: no request failed.
Result<std::string> html_of_trace(const Trace& trace) {
  const auto requests = find_failed_requests(trace);
  if (requests.empty())
    return Failure(
        refusal("no request failed, so there is nothing to explain", "Remove --html for what held the memory."));
  const Diagnosis first = diagnose(trace, requests.front(), Depth::full);
  std::vector<std::string> others;
  for (std::size_t i = 1; i < std::min(lines_max, requests.size()); ++i) {
    const Diagnosis other = diagnose(trace, requests[i], depth_of_other(first, i));
    others.push_back(fmt::format("Out of memory{}: {}", place_text(trace, other), other.cause.sentence));
  }
  if (requests.size() > lines_max) others.push_back(fmt::format("and {} more", requests.size() - lines_max));
  return html_from_diagnosis(trace, first, others);
}

}  // namespace

std::string text_from_failures(const Trace& trace, const Terminal& terminal) {
  const auto requests = find_failed_requests(trace);
  if (requests.empty()) return peak_text(trace, terminal);
  const Diagnosis first = diagnose(trace, requests.front(), Depth::full);
  std::string text = head_text(trace, first, requests.size(), terminal) + evidence_text(first, terminal) +
                     holders_text(first.holders, terminal) + budget_text(first.budget, terminal) +
                     costs_text(first.pool_costs, terminal) + advice_text(first.advice, terminal) +
                     blockers_text(trace, first) + segments_text(first) + unknown_text(first.cause);
  if (requests.size() > 1) text += "\nThe other failures\n";
  for (std::size_t i = 1; i < std::min(lines_max, requests.size()); ++i)
    text += line_text(trace, diagnose(trace, requests[i], depth_of_other(first, i)));
  if (requests.size() > lines_max) text += fmt::format("  and {} more\n", text_from_count(requests.size() - lines_max));
  return text;
}

int run_explain(const ExplainOptions& options) {
  const auto source = load_merged(options.files, {options.max_size, {}, {}, {}});
  if (!source) return fail(source.error());
  if (!source->trace)
    return fail(refusal("a profile does not say whether a request failed: it has sizes and stacks at one time",
                        "Use the log of the job, a memory dump, a snapshot or a recording; or hbmscope report."));
  Result<std::string> text = options.html   ? html_of_trace(*source->trace)
                             : options.json ? text_from_json(with_verdict(json_of_trace(*source->trace), *source))
                                            : verdict_text(*source, Terminal::of_stdout()) +
                                                  text_from_failures(*source->trace, Terminal::of_stdout());
  if (!text) return fail(text.error());
  return print_with_gate(*text, options.gate, find_gate_failure(options.gate.condition, *source->trace));
}

}  // namespace hbmscope::cli
