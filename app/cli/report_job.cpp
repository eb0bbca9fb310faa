// The report section about the trace's job: facts, handles of physical memory, counters, attributes, modules.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/attached_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/query/job_warnings.h"
#include "analysis/query/log_headline.h"
#include "analysis/read/source/read_source.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_trace.h"
#include "app/cli/figure_text.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t rows_shown = 8;  // JSON has all of them.

// One line, cut to the width of the terminal.
std::string facts_text(const std::vector<JobFactRow>& facts, const Terminal& terminal) {
  if (facts.empty()) return {};
  std::string text = "Job:";
  for (const JobFactRow& fact : facts) {
    text += (text.size() > 4 ? ", " : " ") + printable(fact.key);
    for (std::size_t i = 0; i < fact.values.size(); ++i)
      text += (i == 0 ? " " : " / ") + (fact.values[i].empty() ? "(empty)" : printable(fact.values[i]));
    if (display_width(text) <= static_cast<std::size_t>(terminal.columns())) continue;
    const std::size_t left = static_cast<std::size_t>(&facts.back() - &fact);
    text += left > 0 ? fmt::format(", and {} (--json)", text_from_count_of(left, "more fact")) : "";
    break;
  }
  return terminal.paint(text, Ink::dim) + "\n";
}

std::string physical_text(const HeapRow& row) {
  const PhysicalBytes& bytes = *row.physical;
  std::string text = fmt::format("{}: {} of physical memory in {}", printable(row.label),
                                 text_from_bytes(bytes.owned_bytes), text_from_count_of(bytes.handles, "handle"));
  if (bytes.unmapped_bytes > 0) text += fmt::format(" ({} of it not mapped)", text_from_bytes(bytes.unmapped_bytes));
  if (bytes.exported_bytes > 0) text += fmt::format(", {} exported", text_from_bytes(bytes.exported_bytes));
  if (bytes.imported_bytes > 0)
    text += fmt::format(", and {} imported (not counted here)", text_from_bytes(bytes.imported_bytes));
  return text + fmt::format("; addresses: {} mapped, {} reserved\n", text_from_bytes(bytes.mapped_bytes),
                            text_from_bytes(bytes.reserved_bytes));
}

// The name contains the unit.
std::string value_text(const CounterRow& row, const std::optional<std::int64_t>& value) {
  if (!value) return "–";
  return row.name.find("bytes") != std::string::npos ? text_from_bytes(*value) : exact_text_from_count(*value);
}

// The figures of compiled programs have a section of their own.
bool is_of_program(const CounterRow& row) {
  return row.name.starts_with("program_");
}

std::string counters_text(std::vector<CounterRow> rows, const Terminal& terminal) {
  std::erase_if(rows, is_of_program);
  if (rows.empty()) return {};
  std::string text = terminal.paint(fmt::format("{:>16}  {:>16}  {:>16}  {:>9}  counter, up to this time", "value",
                                                "min", "max", "samples"),
                                    Ink::dim) +
                     "\n";
  for (std::size_t i = 0; i < std::min(rows.size(), rows_shown); ++i) {
    const CounterRow& row = rows[i];
    text += fmt::format("{:>16}  {:>16}  {:>16}  {:>9}  {}{}\n", value_text(row, row.value), value_text(row, row.least),
                        value_text(row, row.most), text_from_count(row.samples), printable(row.name),
                        row.heap.empty() ? "" : " of " + printable(row.heap));
  }
  if (rows.size() > rows_shown) text += fmt::format("{} of {} counters; --json has all\n", rows_shown, rows.size());
  return text;
}

std::string attributes_text(const std::vector<AttributeRow>& rows) {
  if (rows.empty()) return {};
  std::string text = "Attributes of live blocks:";
  for (std::size_t i = 0; i < std::min(rows.size(), rows_shown); ++i)
    text += fmt::format("{} {} on {} ({})", i == 0 ? "" : ",", printable(rows[i].key),
                        text_from_count_of(rows[i].live_blocks, "block"), text_from_bytes(rows[i].live_bytes));
  if (rows.size() > rows_shown)
    text += fmt::format(", and {} (--json)", text_from_count_of(rows.size() - rows_shown, "more key"));
  return text + "\n";
}

nlohmann::ordered_json json_from_attached(const AttachedFacts& facts) {
  nlohmann::ordered_json json{{"stream", facts.stream},
                              {"since_start_ns", facts.since_start_ns},
                              {"time_unix_ns", nullptr},
                              {"held_bytes", nullptr},
                              {"told_after_ns", nullptr},
                              {"identified_bytes", facts.identified_bytes},
                              {"before_in_pools_bytes", nullptr},
                              {"not_identified_bytes", nullptr},
                              {"driver_calls", nullptr},
                              {"driver_calls_since_ns", nullptr},
                              {"is_left_alone", facts.is_left_alone}};
  if (facts.realtime_ns) json["time_unix_ns"] = *facts.realtime_ns;
  if (facts.held_bytes) json["held_bytes"] = *facts.held_bytes;
  if (facts.held_bytes) json["told_after_ns"] = facts.reported_after_ns;
  if (facts.before_in_pools_bytes) {
    json["before_in_pools_bytes"] = *facts.before_in_pools_bytes;
    json["not_identified_bytes"] = facts.not_identified_bytes;
  }
  if (!facts.driver_calls.empty()) json["driver_calls"] = facts.driver_calls;
  if (facts.calls_since_ns) json["driver_calls_since_ns"] = *facts.calls_since_ns;
  return json;
}

Result<std::string> job_text(const ReportInput& input, const ReportStyle& style) {
  const Trace& trace = *input.source.trace;
  std::string text;
  for (const AttachedFacts& facts : find_attached(trace)) {
    text += text_from_attached(facts) + "\n";
    if (!facts.driver_calls.empty()) text += printable(text_from_driver_calls(facts)) + "\n";
  }
  for (const HeapRow& row : compute_heap_rows(trace, input.source.states))
    if (row.physical) text += physical_text(row);
  std::vector<CounterRow> counters = compute_counter_rows(trace, input.source.moment);
  // The figures of a log's failures are told with the failures.
  if (is_of_log(trace)) std::erase_if(counters, [](const CounterRow& row) { return !row.heap.empty(); });
  text += counters_text(counters, style.terminal);
  text += attributes_text(compute_attribute_rows(trace, input.source.states));
  if (const std::size_t modules = find_modules(trace).size(); modules > 0)
    text += fmt::format("{} loaded programs and libraries (--json lists them)\n", modules);
  text += facts_text(find_job_facts(trace), style.terminal);
  for (const JobWarning& warning : find_job_warnings(trace))
    text += style.terminal.paint("Warning:", Ink::bad) + " " + printable(text_from_warning(warning)) + "\n";
  return text;
}

nlohmann::ordered_json json_from_warning(const JobWarning& warning) {
  return {
      {"kind", warning.kind}, {"variable", warning.variable}, {"text", warning.text}, {"processes", warning.processes}};
}

Result<void> add_job(nlohmann::ordered_json& json, const ReportInput& input) {
  const Trace& trace = *input.source.trace;
  json["job"] = json_from_job_facts(find_job_facts(trace));
  json["job_warnings"] = nlohmann::ordered_json::array();
  for (const JobWarning& warning : find_job_warnings(trace)) json["job_warnings"].push_back(json_from_warning(warning));
  json["counters"] = json_from_counter_rows(compute_counter_rows(trace, input.source.moment));
  json["attached"] = nlohmann::ordered_json::array();
  for (const AttachedFacts& facts : find_attached(trace)) json["attached"].push_back(json_from_attached(facts));
  json["attributes"] = json_from_attribute_rows(compute_attribute_rows(trace, input.source.states));
  json["modules"] = json_from_modules(find_modules(trace));
  return {};
}

}  // namespace

ReportSection job_section() {
  return {.name = "job", .needs_trace = true, .text = job_text, .add_json = add_job};
}

}  // namespace hbmscope::cli
