// What a trace has besides blocks: facts about its job, counters, attributes, modules, handles of physical memory.
#include "analysis/query/job_facts.h"

#include <fmt/format.h>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/heaps.h"
#include "analysis/query/attached_facts.h"
#include "analysis/query/job_warnings.h"
#include "analysis/query/log_headline.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

Result<Document> describe_attached(const AnswerInput& input) {
  Document document;
  Documents list{.key = "attached"};
  for (const AttachedFacts& facts : find_attached(*input.trace)) {
    const bool knows_before = facts.before_in_pools_bytes.has_value();
    list.list.emplace_back().add(
        Figures{{{"stream", std::uint64_t{facts.stream}, Unit::count},
                 {"since_start_ns", facts.since_start_ns, Unit::nanoseconds},
                 {"time_unix_ns", value_of(facts.realtime_ns), Unit::nanoseconds},
                 {"held_bytes", value_of(facts.held_bytes), Unit::bytes},
                 {"told_after_ns", facts.held_bytes ? Value(facts.reported_after_ns) : Value(), Unit::nanoseconds},
                 {"identified_bytes", facts.identified_bytes, Unit::bytes},
                 {"before_in_pools_bytes", value_of(facts.before_in_pools_bytes), Unit::bytes},
                 {"not_identified_bytes", knows_before ? Value(facts.not_identified_bytes) : Value(), Unit::bytes},
                 {"driver_calls", value_of(facts.driver_calls)},
                 {"driver_calls_since_ns", value_of(facts.calls_since_ns), Unit::nanoseconds},
                 {"is_left_alone", facts.is_left_alone}}});
    document.add(Sentence{.text = text_from_attached(facts)});
    if (!facts.driver_calls.empty()) document.add(Sentence{.text = text_from_driver_calls(facts)});
  }
  document.add(std::move(list));
  return document;
}

std::string physical_text(const HeapRow& row) {
  const PhysicalBytes& bytes = *row.physical;
  std::string text = fmt::format("{}: {} of physical memory in {}", row.label, text_from_bytes(bytes.owned_bytes),
                                 text_from_count_of(bytes.handles, "handle"));
  if (bytes.unmapped_bytes > 0) text += fmt::format(" ({} of it not mapped)", text_from_bytes(bytes.unmapped_bytes));
  if (bytes.exported_bytes > 0) text += fmt::format(", {} exported", text_from_bytes(bytes.exported_bytes));
  if (bytes.imported_bytes > 0)
    text += fmt::format(", and {} imported (not counted here)", text_from_bytes(bytes.imported_bytes));
  return text + fmt::format("; addresses: {} mapped, {} reserved.", text_from_bytes(bytes.mapped_bytes),
                            text_from_bytes(bytes.reserved_bytes));
}

// Its figures are in the JSON of the heaps.
Result<Document> describe_physical(const AnswerInput& input) {
  Document document;
  for (const HeapRow& row : compute_heap_rows(*input.trace, *input.states))
    if (row.physical) document.add(Sentence{.text = physical_text(row)});
  return document;
}

Result<Document> describe_counter_answer(const AnswerInput& input) {
  const std::vector<CounterRow> rows = compute_counter_rows(*input.trace, *input.moment);
  // The figures of compiled programs and of a log's failures are shown with those.
  const bool is_log = is_of_log(*input.trace);
  std::vector<std::uint32_t> shown;
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    if (!rows[i].name.starts_with("program_") && (!is_log || rows[i].heap.empty())) shown.push_back(i);
  Document document;
  add_table(document, describe_counters(rows), std::move(shown));
  return document;
}

Result<Document> describe_attributes(const AnswerInput& input) {
  std::vector<std::vector<Value>> cells;
  for (const AttributeRow& row : compute_attribute_rows(*input.trace, *input.states))
    cells.push_back({row.live_bytes, row.live_blocks, row.count, row.key});
  Document document;
  document.add(Table{.key = "attributes",
                     .title = "Attributes of live blocks",
                     .columns = {{.key = "live_bytes", .title = "Bytes", .unit = Unit::bytes},
                                 {.key = "live_blocks", .title = "Blocks", .unit = Unit::count},
                                 {.key = "count", .title = "Reported", .unit = Unit::count, .rank = 1},
                                 {.key = "key", .title = "Attribute"}},
                     .rows = std::move(cells),
                     .how_to_show_more = "--json has all"});
  return document;
}

Result<Document> describe_modules(const AnswerInput& input) {
  std::vector<std::vector<Value>> cells;
  for (const ModuleRow& row : find_modules(*input.trace))
    cells.push_back({row.size_bytes, value_of(row.path), row.base, value_of(row.build_id), std::uint64_t{row.stream}});
  Document document;
  document.add(
      Table{.key = "modules",
            .title = "Loaded programs and libraries",
            .columns = {{.key = "size_bytes", .title = "Bytes", .unit = Unit::bytes},
                        {.key = "path", .title = "File"},
                        {.key = "base_address", .title = "Address", .unit = Unit::address, .rank = 1},
                        {.key = "build_id", .title = "Build ID", .rank = 2, .is_hidden = true},
                        {.key = "stream", .title = "Stream", .unit = Unit::count, .rank = 3, .is_hidden = true}},
            .rows = std::move(cells),
            .shown = 3,
            .how_to_show_more = "--json has all"});
  return document;
}

Result<Document> describe_job(const AnswerInput& input) {
  Documents list{.key = "job"};
  std::vector<std::vector<Value>> cells;
  for (const JobFactRow& fact : find_job_facts(*input.trace)) {
    std::string shown;
    for (const std::string& value : fact.values)
      shown += (shown.empty() ? "" : " / ") + (value.empty() ? "(empty)" : value);
    list.list.emplace_back().add(Figures{{{"key", fact.key}}}).add(texts_from("values", fact.values));
    cells.push_back({fact.key, std::move(shown)});
  }
  Document document;
  document.add(std::move(list));
  document.add(for_readers({.title = "The job",
                            .columns = {{.title = "Fact"}, {.title = "Value"}},
                            .rows = std::move(cells),
                            .shown = 12,
                            .how_to_show_more = "--json has all"}));
  return document;
}

Result<Document> describe_job_warnings(const AnswerInput& input) {
  std::vector<std::vector<Value>> cells;
  for (const JobWarning& warning : find_job_warnings(*input.trace))
    cells.push_back({"Warning: " + text_from_warning(warning), warning.kind, warning.variable, warning.text,
                     std::uint64_t{warning.processes}});
  Document document;
  document.add(Table{.key = "job_warnings",
                     .columns = {{.title = "Warning"},
                                 {.key = "kind"},
                                 {.key = "variable"},
                                 {.key = "text"},
                                 {.key = "processes", .unit = Unit::count}},
                     .rows = std::move(cells),
                     .layout = Layout::lines,
                     .shown = 64,
                     .tone = [](std::size_t) { return Tone::bad; }});
  return document;
}

}  // namespace

Table describe_counters(const std::vector<CounterRow>& rows) {
  std::vector<std::vector<Value>> cells;
  std::vector<bool> are_bytes;
  for (const CounterRow& row : rows) {
    cells.push_back({value_of(row.value), value_of(row.least), value_of(row.most), row.samples, row.name,
                     value_of(row.heap), std::uint64_t{row.stream}});
    are_bytes.push_back(row.name.find("bytes") != std::string::npos);  // The name has the unit.
  }
  return {.key = "counters",
          .title = "Counters, up to this time",
          .columns = {{.key = "value", .title = "Value", .unit = Unit::amount},
                      {.key = "least", .title = "Min", .unit = Unit::amount, .rank = 1},
                      {.key = "most", .title = "Max", .unit = Unit::amount, .rank = 1},
                      {.key = "samples", .title = "Samples", .unit = Unit::count, .rank = 2},
                      {.key = "name", .title = "Counter"},
                      {.key = "heap", .title = "Heap", .rank = 3},
                      {.key = "stream", .unit = Unit::count}},
          .rows = std::move(cells),
          .row_unit = [are_bytes = std::move(are_bytes)](std::size_t row) -> std::string_view {
            return are_bytes[row] ? "bytes" : "count";
          },
          .shown = 8,
          .how_to_show_more = "--json has all"};
}

constinit const AnswerRow attached_answer{
    .name = "attached",
    .title = "Attached",
    .help = "What a process held when it was attached to",
    .needs_trace = true,
    .describe = describe_attached,
};
constinit const AnswerRow physical_answer{
    .name = "physical",
    .title = "Physical memory",
    .help = "Handles of physical memory, and mapped addresses",
    .needs_trace = true,
    .describe = describe_physical,
};
constinit const AnswerRow counters_answer{
    .name = "counters",
    .title = "Counters",
    .help = "Figures reported over time",
    .needs_trace = true,
    .describe = describe_counter_answer,
};
constinit const AnswerRow attributes_answer{
    .name = "attributes",
    .title = "Attributes",
    .help = "What became known about allocations later, by key",
    .needs_trace = true,
    .describe = describe_attributes,
};
constinit const AnswerRow modules_answer{
    .name = "modules",
    .title = "Modules",
    .help = "Loaded programs and libraries",
    .needs_trace = true,
    .describe = describe_modules,
};
constinit const AnswerRow job_answer{
    .name = "job",
    .title = "Job",
    .help = "Settings of the job: command, versions, devices, environment",
    .needs_trace = true,
    .describe = describe_job,
};
constinit const AnswerRow job_warnings_answer{
    .name = "job_warnings",
    .title = "Warnings",
    .help = "Settings that don't do what their author expects",
    .needs_trace = true,
    .describe = describe_job_warnings,
};

}  // namespace hbmscope
