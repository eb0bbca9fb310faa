#include "app/cli/report_told.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/attached_facts.h"
#include "analysis/query/heap_rows.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_told.h"

namespace hbmscope::cli {
namespace {

constexpr std::size_t rows_shown = 8;  // JSON has all.

// One line, as long as the terminal is wide.
std::string job_text(const std::vector<JobFactRow>& facts, const Terminal& terminal) {
  if (facts.empty()) return {};
  std::string text = "job:";
  for (const JobFactRow& fact : facts) {
    text += (text.size() > 4 ? ", " : " ") + printable(fact.key);
    for (std::size_t i = 0; i < fact.values.size(); ++i)
      text += (i == 0 ? " " : " / ") + (fact.values[i].empty() ? "(empty)" : printable(fact.values[i]));
    if (display_width(text) <= static_cast<std::size_t>(terminal.columns())) continue;
    const std::size_t left = static_cast<std::size_t>(&facts.back() - &fact);
    text += left > 0 ? fmt::format(", and {} more facts: --json", left) : "";
    break;
  }
  return terminal.paint(text, Ink::dim) + "\n";
}

std::string physical_text(const HeapRow& row) {
  const PhysicalBytes& bytes = *row.physical;
  std::string text = fmt::format("{}, physical memory: {} handles, {} owned", printable(row.label),
                                 text_from_count(bytes.handles), text_from_bytes(bytes.owned_bytes));
  if (bytes.unmapped_bytes > 0)
    text += fmt::format(" ({} of it mapped nowhere)", text_from_bytes(bytes.unmapped_bytes));
  if (bytes.exported_bytes > 0) text += fmt::format(", {} of it exported", text_from_bytes(bytes.exported_bytes));
  if (bytes.imported_bytes > 0)
    text += fmt::format(", {} imported, not counted here", text_from_bytes(bytes.imported_bytes));
  return text + fmt::format("; addresses: {} mapped, {} reserved\n", text_from_bytes(bytes.mapped_bytes),
                            text_from_bytes(bytes.reserved_bytes));
}

// The unit is what the name says.
std::string value_text(const CounterRow& row, const std::optional<std::int64_t>& value) {
  if (!value) return "?";
  return row.name.find("bytes") != std::string::npos ? text_from_bytes(*value) : exact_text_from_count(*value);
}

std::string counters_text(const std::vector<CounterRow>& rows, const Terminal& terminal) {
  if (rows.empty()) return {};
  std::string text = terminal.paint(fmt::format("{:>16}  {:>16}  {:>16}  {:>9}  counter, as told up to then", "value",
                                                "least", "most", "samples"),
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
  std::string text = "attributes of live blocks:";
  for (std::size_t i = 0; i < std::min(rows.size(), rows_shown); ++i)
    text += fmt::format("{} {} of {} ({})", i == 0 ? "" : ",", printable(rows[i].key),
                        text_from_count(rows[i].live_blocks), text_from_bytes(rows[i].live_bytes));
  if (rows.size() > rows_shown) text += fmt::format(", and {} more keys: --json", rows.size() - rows_shown);
  return text + "\n";
}

nlohmann::ordered_json json_from_attached(const AttachedFacts& facts) {
  nlohmann::ordered_json json{{"stream", facts.stream},   {"since_start_ns", facts.since_start_ns},
                              {"time_unix_ns", nullptr},  {"held_bytes", nullptr},
                              {"told_after_ns", nullptr}, {"identified_bytes", facts.identified_bytes},
                              {"driver_calls", nullptr},  {"driver_calls_since_ns", nullptr},
                              {"is_left_alone", facts.is_left_alone}};
  if (facts.realtime_ns) json["time_unix_ns"] = *facts.realtime_ns;
  if (facts.held_bytes) json["held_bytes"] = *facts.held_bytes;
  if (facts.held_bytes) json["told_after_ns"] = facts.told_after_ns;
  if (!facts.driver_calls.empty()) json["driver_calls"] = facts.driver_calls;
  if (facts.calls_since_ns) json["driver_calls_since_ns"] = *facts.calls_since_ns;
  return json;
}

}  // namespace

std::string text_from_told(const Source& source, const Terminal& terminal) {
  const Trace& trace = *source.trace;
  std::string text;
  for (const AttachedFacts& facts : find_attached(trace)) {
    text += text_from_attached(facts) + "\n";
    if (!facts.driver_calls.empty()) text += printable(text_from_driver_calls(facts)) + "\n";
  }
  for (const HeapRow& row : compute_heap_rows(trace, source.states))
    if (row.physical) text += physical_text(row);
  text += counters_text(compute_counter_rows(trace, source.moment), terminal);
  text += attributes_text(compute_attribute_rows(trace, source.states));
  if (const std::size_t modules = find_modules(trace).size(); modules > 0)
    text += fmt::format("{} loaded programs and libraries; --json lists them\n", modules);
  return text + job_text(find_job_facts(trace), terminal);
}

void add_told(nlohmann::ordered_json& json, const Source& source) {
  const Trace& trace = *source.trace;
  json["job"] = json_from_job_facts(find_job_facts(trace));
  json["counters"] = json_from_counter_rows(compute_counter_rows(trace, source.moment));
  json["attached"] = nlohmann::ordered_json::array();
  for (const AttachedFacts& facts : find_attached(trace)) json["attached"].push_back(json_from_attached(facts));
  json["attributes"] = json_from_attribute_rows(compute_attribute_rows(trace, source.states));
  json["modules"] = json_from_modules(find_modules(trace));
}

}  // namespace hbmscope::cli
