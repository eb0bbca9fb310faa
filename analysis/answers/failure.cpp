#include "analysis/answers/failure.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/query/log_headline.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/query/where.h"
#include "analysis/trace/failure_details.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/stream_names.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

using Cells = std::vector<std::vector<Value>>;

CodeSite place_of(const Definitions& definitions, std::uint32_t stack) {
  const auto own = find_own_frame(definitions, stack);
  if (!own) return {};
  return {std::string(definitions.text(own->function)), std::string(definitions.text(own->file)), own->line, false};
}

// What a log says beyond the figures and the evidence: "operation: dot.3; rank: 1".
std::string details_text(const Diagnosis& diagnosis) {
  const FailureRow& row = diagnosis.row;
  if (!row.line) return {};
  std::string text;
  // Without a name of its own, the allocator is that of the framework: "xla:tpu".
  const bool has_name = !row.allocator.empty() && row.allocator.find(':') == std::string::npos;
  if (has_name && !diagnosis.facts.heap_name.starts_with(row.allocator)) text = "allocator: " + row.allocator;
  const auto& evidence = diagnosis.cause.evidence;
  for (const auto& [key, value] : row.details) {
    const std::string words = key + ": " + value;
    const bool is_said = std::any_of(evidence.begin(), evidence.end(),
                                     [&](const Evidence& one) { return one.text.starts_with(words); }) ||
                         (key == failure_detail::grows && diagnosis.cause.sentence.ends_with(value));
    constexpr std::string_view hidden[] = {
        failure_detail::byte,          failure_detail::framework,     failure_detail::setting,
        failure_detail::platform,      failure_detail::suggested,     failure_detail::killed_by,
        failure_detail::killer,        failure_detail::exceeded,      failure_detail::part,
        failure_detail::checkpointing, failure_detail::driver_memory, failure_detail::torch_version,
        failure_detail::alone,         failure_detail::steps_before};
    const bool is_hidden = std::find(std::begin(hidden), std::end(hidden), key) != std::end(hidden) ||
                           key.starts_with("process ") || key == "this process";
    if (!is_hidden && !is_said) text += (text.empty() ? "" : "; ") + words;
  }
  return text;
}

Document why(const Trace& trace, const Diagnosis& diagnosis) {
  const FailureFacts& facts = diagnosis.facts;
  Document part{.title = "Why"};
  Cells rows;
  for (const Evidence& one : diagnosis.cause.evidence)
    rows.push_back({one.text, value_of(one.line), value_of(one.event)});
  Table evidence{.key = "evidence",
                 .columns = {{"text", "Why"}, {"line", "", Unit::count}, {"event", "", Unit::count}},
                 .rows = std::move(rows),
                 .layout = Layout::lines,
                 .shown = 100};
  evidence.action = [all = diagnosis.cause.evidence, at = facts.event](std::size_t row) -> Action {
    const bool is_elsewhere = all[row].event && *all[row].event != at;
    return is_elsewhere ? Action{.kind = Action::Kind::go_to_event, .number = *all[row].event} : Action{};
  };
  part.add(std::move(evidence));
  if (diagnosis.row.line)
    part.add(Sentence{.text = diagnosis.row.reason,
                      .tone = Tone::quote,
                      .audience = Audience::readers,
                      .action = {.kind = Action::Kind::show_log_line, .number = *diagnosis.row.line}});
  const Definitions& definitions = trace.streams[diagnosis.stream].definitions();
  part.add(Sentence{.lead = "Requested by ",
                    .text = diagnosis.row.own_line,
                    .audience = Audience::readers,
                    .action = {.kind = Action::Kind::select_code, .place = place_of(definitions, facts.stack)}});
  part.add(Sentence{.text = details_text(diagnosis), .tone = Tone::dim, .audience = Audience::readers});
  const bool never_fit = facts.free_blocks && !facts.last_fit && !facts.log_line &&
                         diagnosis.cause.immediate != Cause::unknown && !facts.is_of_driver;
  if (never_fit)
    part.add(Sentence{.text = "The pool never had a free block of that size.", .audience = Audience::readers});
  return part;
}

Table advice(const std::vector<Advice>& all) {
  Cells rows;
  for (const Advice& one : all)
    rows.push_back({one.change, value_of(mark_of(one)), one.why, value_of(one.price),
                    std::string(text_from_proof(one.proof)), value_of(one.fits), value_of(one.proof_text),
                    value_of(one.room_bytes), value_of(one.steps_at_most)});
  Table table{.key = "advice",
              .title = all.empty() ? "" : std::string(title_of_remedies),
              .columns = {{"change", "Change"},
                          {.title = "Mark", .is_mark = true},
                          {"why", "Why"},
                          {.key = "price", .title = "Trade-off", .lead = "Trade-off: "},
                          {"proof", ""},
                          {"fits", "", Unit::flag},
                          {.key = "proof_text", .title = "Proof", .tone = Tone::good},
                          {"room_bytes", "", Unit::bytes},
                          {"steps_at_most", "", Unit::count}},
              .rows = std::move(rows),
              .layout = Layout::list,
              .shown = 100};
  table.action = [all](std::size_t row) { return Action{.kind = Action::Kind::copy, .text = all[row].change}; };
  return table;
}

Table holders_table(const Holders& holders, std::string key) {
  constexpr std::string_view names[] = {"Your code", "Used for", "Tag", "Size"};
  constexpr std::string_view fields[] = {"own", "category", "tag", ""};
  const auto by = static_cast<std::size_t>(holders.by);
  Cells rows;
  for (const Holder& one : holders.rows)
    rows.push_back({one.bytes, share_value(one.bytes, holders.bytes), one.blocks, value_of(one.oldest_ns), one.name});
  Table table{.key = std::move(key),
              .columns = {{.key = "bytes", .title = "Bytes", .unit = Unit::bytes, .share = 1},
                          {.key = "share",
                           .title = "Share",
                           .unit = Unit::share,
                           .meaning = "Of all bytes in use in this pool.",
                           .rank = 3,
                           .is_dim = true},
                          {.key = "blocks", .title = "Blocks", .unit = Unit::count, .rank = 2},
                          {.key = "oldest_age_ns",
                           .title = "Oldest",
                           .unit = Unit::nanoseconds,
                           .meaning = "The age of its oldest block.",
                           .rank = 4},
                          {"name", names[by]}},
              .rows = std::move(rows)};
  if (fields[by].empty()) return table;
  table.action = [rows = holders.rows, field = std::string(fields[by])](std::size_t row) {
    return Action{.kind = Action::Kind::filter, .text = field + "=" + where_quote(rows[row].name)};
  };
  return table;
}

// What the log lists beside the failure.
void add_listed(Document& document, const std::vector<ListedMemory>& listed) {
  Documents all{.key = "listed_memory"};
  for (const ListedMemory& one : listed) {
    Table shown = holders_table(one.holders, "");
    shown.title = fmt::format("{} ({})", one.account.name, text_from_account(one.account));
    shown.audience = Audience::readers;
    document.add(std::move(shown));
    Document part;
    part.add(Figures{{{"name", one.account.name},
                      {"bytes", one.holders.bytes, Unit::bytes},
                      {"device_bytes", value_of(one.account.device_bytes), Unit::bytes},
                      {"free_before_bytes", value_of(one.account.free_before_bytes), Unit::bytes},
                      {"left_bytes", value_of(one.account.left_bytes()), Unit::bytes}}});
    part.add(holders_table(one.holders, "holders"));
    all.list.push_back(std::move(part));
  }
  document.add(std::move(all));
}

void add_holders(Document& document, const Diagnosis& diagnosis) {
  const Holders& holders = diagnosis.holders;
  const bool are_known = !holders.rows.empty();
  document.add(Figures{{{"holders_by", are_known ? Value(std::string(text_from_by(holders.by))) : Value()},
                        {"holders_bytes", are_known ? Value(holders.bytes) : Value(), Unit::bytes}}});
  if (!are_known) {
    document.add(Absent{"holders"});
  } else {
    Table table = holders_table(holders, "holders");
    table.title = fmt::format("What held the memory ({} in use)", text_from_bytes(holders.bytes));
    // One row without a name says nothing that the sentence doesn't.
    if (holders.rows.size() == 1 && holders.rows.front().name == bytes_without_a_list)
      table.audience = Audience::programs;
    document.add(std::move(table));
  }
  add_listed(document, diagnosis.listed);
  if (diagnosis.holders_since_fit.rows.empty()) {
    document.add(Absent{"holders_since_last_fit"});
  } else {
    Table table = holders_table(diagnosis.holders_since_fit, "holders_since_last_fit");
    table.audience = Audience::programs;
    document.add(std::move(table));
  }
}

Table blockers_table(const Definitions& definitions, const std::optional<CheapestPlace>& place, std::string key) {
  std::vector<LiveBlock> blocks = place ? place->blocks : std::vector<LiveBlock>{};
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const LiveBlock& a, const LiveBlock& b) { return a.size > b.size; });
  Cells rows;
  std::vector<Action> actions;
  for (const LiveBlock& block : blocks) {
    rows.push_back({block.address, block.size, user_code_text(definitions, block.stack)});
    actions.push_back(
        {.kind = Action::Kind::select_block, .number = block.address, .place = place_of(definitions, block.stack)});
  }
  Table table{.key = std::move(key),
              .columns = {{"address", "Address", Unit::address},
                          {"size_bytes", "Size", Unit::bytes},
                          {"your_code", "Your code"}},
              .rows = std::move(rows),
              .audience = Audience::programs};
  table.action = [actions = std::move(actions)](std::size_t row) { return actions[row]; };
  return table;
}

void add_blockers(Document& document, const Trace& trace, const Diagnosis& diagnosis) {
  const Definitions& definitions = trace.streams[diagnosis.stream].definitions();
  const FailureFacts& facts = diagnosis.facts;
  const bool concerns_readers = row_of(diagnosis.cause.immediate).has_blockers;
  Table blockers = blockers_table(definitions, facts.place, "blockers");
  if (concerns_readers && facts.place && !facts.place->blocks.empty()) {
    blockers.audience = Audience::everyone;
    blockers.title =
        fmt::format("Blocking allocations: {}, {}", text_from_count_of(facts.place->blocks.size(), "block"),
                    text_from_bytes(facts.place->in_use_bytes));
    blockers.note = fmt::format("The smallest set of allocations to free, between {:#x} and {:#x}.",
                                facts.place->range.begin, facts.place->range.end);
    if (const auto& fewest = facts.place_of_fewest_blocks)
      blockers.foot = fmt::format("or, the fewest blocks: {} of {} between {:#x} and {:#x}",
                                  text_from_count_of(fewest->blocks.size(), "block"),
                                  text_from_bytes(fewest->in_use_bytes), fewest->range.begin, fewest->range.end);
  }
  document.add(std::move(blockers));
  if (concerns_readers && facts.free_blocks && !facts.place)
    document.add(Sentence{
        .text =
            "No region of the pool is as large as the request, so releasing blocks could not have made room for it.",
        .audience = Audience::readers});
  document.add(blockers_table(definitions, facts.place_of_fewest_blocks ? facts.place_of_fewest_blocks : facts.place,
                              "fewest_blockers"));
}

void add_segments(Document& document, const Diagnosis& diagnosis) {
  const auto& segments = diagnosis.segments;
  if (!segments) {
    document.add(Absent{"whole_segments"});
    return;
  }
  // For readers only where it is less than the blocks of one place, or there is no such place.
  const auto& place = diagnosis.facts.place;
  if (!place || place->in_use_bytes > segments->in_use_bytes) {
    Document part{.title = "Blocking allocations, in whole segments",
                  .note = "PyTorch returns a segment to the device once it is empty.",
                  .audience = Audience::readers};
    part.add(Sentence{.text = fmt::format(
                          "Free {} ({} in total) in {} ({} in total).", text_from_count_of(segments->blocks, "block"),
                          text_from_bytes(segments->in_use_bytes),
                          text_from_count_of(segments->segments.size(), "segment"), text_from_bytes(segments->bytes))});
    if (diagnosis.facts.driver_bytes)
      part.add(Sentence{.text = fmt::format("Together with the {} already free, that is enough.",
                                            text_from_bytes(*diagnosis.facts.driver_bytes))});
    document.add(std::move(part));
  }
  Document part{.key = "whole_segments", .audience = Audience::programs};
  part.add(Figures{{{"bytes", segments->bytes, Unit::bytes},
                    {"in_use_bytes", segments->in_use_bytes, Unit::bytes},
                    {"blocks", segments->blocks, Unit::count},
                    {"is_smallest", segments->is_smallest}}});
  Cells rows;
  for (const AddressRange& range : segments->segments) rows.push_back({range.begin, range.size()});
  part.add(Table{.key = "segments",
                 .columns = {{"address", "", Unit::address}, {"size_bytes", "", Unit::bytes}},
                 .rows = std::move(rows)});
  document.add(std::move(part));
}

Document growth_part(const Growth& growth) {
  Document part{.key = "growth", .audience = Audience::programs};
  part.add(Figures{{{"step", growth.step},
                    {"each", std::string(growth.each)},
                    {"steps", growth.steps, Unit::count},
                    {"bytes_per_step", growth.bytes_per_step, Unit::bytes},
                    {"is_steady", growth.is_steady},
                    {"survivor_bytes", growth.survivor_bytes, Unit::bytes},
                    {"kept_bytes", growth.kept_bytes, Unit::bytes},
                    {"held_by", value_of(growth.held_by)},
                    {"made_at", value_of(made_at(growth))}}});
  Cells rows;
  for (const Holder& one : growth.survivors) rows.push_back({one.name, one.bytes, one.blocks});
  part.add(Table{.key = "survivors",
                 .columns = {{"name", ""}, {"bytes", "", Unit::bytes}, {"blocks", "", Unit::count}},
                 .rows = std::move(rows)});
  return part;
}

void add_place(Document& document, const Trace& trace, const Diagnosis& diagnosis) {
  const auto& place = diagnosis.facts.place;
  if (!place) {
    document.add(Absent{"cheapest_place"});
    return;
  }
  const Definitions& definitions = trace.streams[diagnosis.stream].definitions();
  Document part{.key = "cheapest_place", .audience = Audience::programs};
  part.add(Figures{{{"begin_address", place->range.begin, Unit::address},
                    {"end_address", place->range.end, Unit::address},
                    {"in_use_bytes", place->in_use_bytes, Unit::bytes}}});
  Cells rows;
  for (const LiveBlock& block : place->blocks) {
    const CodeSite code = place_of(definitions, block.stack);
    const bool is_before = block.event == wire::before_the_stream;
    rows.push_back(
        {block.address, block.size, is_before ? Value() : Value(block.event),
         value_of(code.function.empty() ? "" : fmt::format("{} {}:{}", code.function, code.file, code.line))});
  }
  part.add(Table{.key = "blocks",
                 .columns = {{"address", "", Unit::address},
                             {"size_bytes", "", Unit::bytes},
                             {"allocation_event", "", Unit::count},
                             {"own_line", ""}},
                 .rows = std::move(rows)});
  document.add(std::move(part));
}

}  // namespace

Table describe_holders(const Holders& holders) {
  return holders_table(holders, "holders");
}

Document describe_device_budget(const DeviceBudget& budget) {
  Document part{.key = "device_budget",
                .title = fmt::format("The device's {} at that time", text_from_bytes(budget.total_bytes))};
  // Figures that contradict each other explain nothing to a reader.
  if (budget.over_bytes > 0) part.audience = Audience::programs;
  part.add(Figures{{{"total_bytes", budget.total_bytes, Unit::bytes}, {"over_bytes", budget.over_bytes, Unit::bytes}}});
  Cells rows;
  for (const BudgetRow& row : budget.rows)
    rows.push_back({std::string(text_from_part(row.part)), row.name, row.is_derived, row.bytes,
                    share_value(row.bytes, budget.total_bytes + budget.over_bytes), row.name});
  part.add(Table{.key = "parts",
                 .columns = {{"part", ""},
                             {"name", ""},
                             {"is_derived", "", Unit::flag},
                             {.key = "bytes", .title = "Bytes", .unit = Unit::bytes, .share = 1},
                             {.title = "Share", .unit = Unit::share, .rank = 1, .is_dim = true},
                             {"", "What"}},
                 .rows = std::move(rows),
                 .layout = Layout::stacked_bar,
                 .shown = 100});
  return part;
}

std::string title_of_failure(const Trace& trace, const Diagnosis& diagnosis, FailureNumber number) {
  const Stream& stream = trace.streams[diagnosis.stream];
  std::string text = is_of_extra_pool(stream, stream.failures()[diagnosis.index])
                         ? "Out of memory in the emulated GPU pool"
                         : "Out of memory";
  const std::string which =
      number.of > 1 ? fmt::format(" ({} of {})", text_from_count(number.number), text_from_count(number.of)) : "";
  const bool is_killed = diagnosis.row.detail(failure_detail::killer) == killer::signal;
  if (is_killed) text.replace(0, std::string_view("Out of memory").size(), "Killed");
  if (!diagnosis.facts.heap_name.empty() && !is_killed && diagnosis.row.allocator != unknown_allocator)
    text += " on " + diagnosis.facts.heap_name;
  if (const std::string part = part_of_stream(trace, diagnosis.stream); trace.streams.size() > 1 && !part.empty())
    text += " (" + part + ")";
  if (diagnosis.row.line)
    return text + fmt::format(", line {} of the log", text_from_count(*diagnosis.row.line)) + which;
  const std::string event = "event " + text_from_count(diagnosis.row.event);
  const auto& ns = diagnosis.row.since_start_ns;
  return text + " at " + (ns ? text_from_moment_ns(*ns) + ", " + event : event) + which;
}

Document describe_failure_row(const FailureRow& row) {
  Document part;
  std::vector<Figure> fields = {
      {"requested_bytes", row.requested_bytes == 0 ? Value() : Value(row.requested_bytes), Unit::bytes, "asked_bytes"},
      {"rounded_bytes", value_of(row.rounded_bytes), Unit::bytes},
      {"free_outside_the_pool_bytes", value_of(row.available_bytes), Unit::bytes, "available_bytes"},
      {"in_use_bytes", value_of(row.used_bytes), Unit::bytes, "used_bytes"},
      {"free_bytes", value_of(row.total_free_bytes), Unit::bytes, "total_free_bytes"},
      {"largest_free_bytes", value_of(row.largest_free_bytes), Unit::bytes},
      {"pool_bytes", value_of(row.pool_bytes), Unit::bytes},
      {"limit_bytes", value_of(row.limit_bytes), Unit::bytes},
      {"memory_space", value_of(row.memory_space)},
      {"device", row.device ? Value(std::uint64_t{*row.device}) : Value(), Unit::count},
      {"allocator", value_of(row.allocator)}};
  Texts unknowns{.key = "unknowns"};
  const auto is_known = [](const Figure& field) { return !std::holds_alternative<std::monostate>(field.value); };
  const auto name_of = [](const Figure& field) { return field.old_key.empty() ? field.key : field.old_key; };
  for (const Figure& field : fields)
    if (!is_known(field)) unknowns.texts.emplace_back(name_of(field), "");
  // These have a value, but it is not exact.
  constexpr std::string_view inexact[] = {"used_bytes", "total_free_bytes", "largest_free_bytes", "pool_bytes"};
  if (row.is_inexact)
    for (const Figure& field : fields)
      if (is_known(field) && std::find(std::begin(inexact), std::end(inexact), name_of(field)) != std::end(inexact))
        unknowns.texts.emplace_back(name_of(field), "");
  part.add(Figures{std::move(fields)});
  part.add(std::move(unknowns));
  part.add(Figures{{{"is_inexact", row.is_inexact},
                    {"reason", value_of(row.reason)},
                    {"event", row.event, Unit::count},
                    {"since_start_ns", value_of(row.since_start_ns), Unit::nanoseconds},
                    {"requested_by", value_of(row.own_line), Unit::text, "own_line"},
                    {"is_pending", row.is_pending},
                    {"is_of_driver", row.is_of_driver},
                    {"line", value_of(row.line), Unit::count}}});
  part.add(Texts{.key = "details", .texts = row.details, .is_object = true});
  return part;
}

Document describe_undiagnosed_failure() {
  Document part;
  for (const char* key : {"verdict", "immediate_verdict", "sentence", "evidence", "unknown", "how_to_know",
                          "last_fit_events", "holders_by", "holders_bytes", "holders", "listed_memory", "blockers",
                          "advice", "free_pieces", "last_fit_since_start_ns", "cheapest_place"})
    part.add(Absent{key});
  return part;
}

Document describe_failure(const Trace& trace, const Diagnosis& diagnosis, FailureNumber number) {
  const CauseOfFailure& cause = diagnosis.cause;
  const FailureFacts& facts = diagnosis.facts;
  Document document{.title = title_of_failure(trace, diagnosis, number), .is_bad = true};
  document.add(describe_failure_row(diagnosis.row));
  if (const std::string part = part_of_stream(trace, diagnosis.stream); trace.streams.size() > 1 && !part.empty())
    document.add(Figures{{{"part", part}}});
  document.add(Figures{{{"verdict", std::string(text_from_cause(cause.cause))},
                        {"immediate_verdict", std::string(text_from_cause(cause.immediate))}}});
  document.add(Sentence{.key = "sentence", .text = cause.sentence, .tone = Tone::strong});
  document.add(Drawing{"free memory"});
  document.add(why(trace, diagnosis));
  document.add(advice(diagnosis.advice));
  add_holders(document, diagnosis);
  if (diagnosis.budget)
    document.add(describe_device_budget(*diagnosis.budget));
  else
    document.add(Absent{"device_budget"});
  if (diagnosis.pool_costs) {
    // Nothing is to be explained to readers where nearly all of the pool was requested.
    constexpr std::uint64_t part_min = 50;
    const PoolCosts& costs = *diagnosis.pool_costs;
    Document part = describe_pool_costs(costs, "the pool");
    if (costs.pool_bytes < costs.requested_bytes + costs.pool_bytes / part_min) part.audience = Audience::programs;
    document.add(std::move(part));
  } else {
    document.add(Absent{"pool_costs"});
  }
  add_blockers(document, trace, diagnosis);
  add_segments(document, diagnosis);
  if (diagnosis.growth)
    document.add(growth_part(*diagnosis.growth));
  else
    document.add(Absent{"growth"});
  document.add(Figures{{{"free_pieces", value_of(facts.free_blocks), Unit::count},
                        {"last_fit_events", value_of(facts.last_fit), Unit::count},
                        {"last_fit_since_start_ns", value_of(facts.last_fit_since_start_ns), Unit::nanoseconds}}});
  add_place(document, trace, diagnosis);
  // What a text doesn't say, its sentence says.
  const bool is_of_text = diagnosis.row.line.has_value();
  const std::string recorded = text_from_recorded(trace);
  Document unknown{.title = is_of_text ? "To know next time" : "Unknown",
                   .audience = recorded.empty() ? Audience::everyone : Audience::programs};
  unknown.add(Sentence{
      .key = "unknown", .text = cause.unknowns, .audience = is_of_text ? Audience::programs : Audience::everyone});
  unknown.add(Sentence{.key = "how_to_know",
                       .lead = is_of_text ? "" : "To know next time: ",
                       .text = cause.how_to_know,
                       .action = {.kind = Action::Kind::copy, .text = cause.how_to_know}});
  document.add(std::move(unknown));
  if (!recorded.empty())
    document.add(Document{.title = "To know more now", .audience = Audience::readers}.add(
        Sentence{.text = recorded, .tone = Tone::strong, .action = {.kind = Action::Kind::copy, .text = recorded}}));
  return document;
}

Document describe_outlook(const Outlook& outlook) {
  Document part{.key = "outlook"};
  part.add(Sentence{.key = "sentence", .text = text_from_outlook(outlook)});
  part.add(growth_part(outlook.growth));
  part.add(Figures{{{"limit_bytes", value_of(outlook.limit_bytes), Unit::bytes},
                    {"may_grow", outlook.may_grow},
                    {"steps_at_most", value_of(outlook.steps_at_most), Unit::count}}});
  return part;
}

}  // namespace hbmscope
