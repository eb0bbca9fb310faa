// hbmscope report: what holds the memory.
#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/judge/gate.h"
#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/query/view_of_blocks.h"
#include "analysis/trace/profile_from_trace.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report/report_blocks.h"
#include "app/cli/report/report_follow.h"
#include "app/cli/report/report_range.h"
#include "app/cli/report/report_series.h"
#include "app/cli/report/source_verdict.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// The answers of a report: those that `--only` names, or all that are wanted.
Result<std::vector<const AnswerRow*>> find_answers(const ReportOptions& options, const AnswerInput& input) {
  std::vector<const AnswerRow*> rows;
  for (const std::string& name : options.only) {
    const auto row = find_answer_row(name);
    if ((*row)->needs_trace && input.trace == nullptr)
      return Failure(refusal(fmt::format("a profile has no answer '{}'", name),
                             "Use one snapshot, log or recording, or another answer."));
    if (!can_answer(**row, input))
      return Failure(refusal(fmt::format("'{}' needs {}", name, (*row)->flag),
                             fmt::format("Add {} {}.", (*row)->flag, (*row)->value_name)));
    rows.push_back(*row);
  }
  if (!rows.empty()) return rows;
  for (const AnswerRow* row : answer_table())
    if (is_wanted(*row, input)) rows.push_back(row);
  if (input.audience == Audience::programs) return rows;
  const bool has_rows = std::none_of(rows.begin(), rows.end(),
                                     [](const AnswerRow* row) { return row->placement == Placement::instead_of_rows; });
  if (!has_rows) std::erase_if(rows, [](const AnswerRow* row) { return row->placement == Placement::rows; });
  return rows;
}

Result<std::vector<Document>> describe_answers(const ReportOptions& options, const AnswerInput& input) {
  const auto rows = find_answers(options, input);
  if (!rows) return Failure(rows.error());
  std::vector<Document> documents;
  for (const AnswerRow* row : *rows) {
    auto document = row->describe(input);
    if (!document) return Failure(document.error());
    documents.push_back(std::move(*document));
  }
  return documents;
}

Result<std::string> json_report(const ReportOptions& options, const Source& source, const AnswerInput& input) {
  const auto documents = describe_answers(options, input);
  if (!documents) return Failure(documents.error());
  nlohmann::ordered_json json = {{"schema", json_schema}};
  if (options.only.empty()) json = with_verdict(std::move(json), source);
  const Keys keys = options.brief > 0 ? Keys::current : Keys::with_old_ones;
  for (const Document& document : *documents) merge_json(json, json_from_document(document, keys));
  return text_from_answer(json, options.brief);
}

Result<std::string> text_report(const ReportOptions& options, const Source& source, const AnswerInput& input) {
  const auto documents = describe_answers(options, input);
  if (!documents) return Failure(documents.error());
  const Terminal terminal = Terminal::of_stdout();
  std::string text = options.only.empty() ? verdict_text(source, terminal) : std::string();
  for (const Document& document : *documents) {
    const std::string part = text_from_document(document, terminal.style());
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

AnswerInput input_from(const ReportOptions& options, const Source& source, const ProfileView& view) {
  AnswerInput input{
      .view = view, .by = options.by, .label = label_key_of(options.by), .top = options.top, .own = options.own};
  if (source.trace) {
    input.trace = source.trace.get();
    input.states = &source.states;
    input.moment = &source.moment;
  }
  input.order = options.by_count ? (options.cumulative ? TopOrder::cum_count : TopOrder::flat_count)
                                 : (options.cumulative ? TopOrder::cum_bytes : TopOrder::flat_bytes);
  input.is_relative = options.view.relative;
  for (const AnswerRow* row : answer_table())
    if (!row->flag.empty() && options.used.has(row->flag)) {
      const auto value = options.values.find(row->flag);
      input.flags.emplace(row->flag, value == options.values.end() ? "" : value->second);
    }
  constexpr std::array options_of_frames{"--by", "--top", "--cum", "--count"};
  input.wants_frames = !options.only.empty() || std::any_of(options_of_frames.begin(), options_of_frames.end(),
                                                            [&](const char* one) { return options.used.has(one); });
  input.audience = options.json || options.brief > 0 ? Audience::programs : Audience::readers;
  return input;
}

// Refuses an unknown label: a misspelt one would give a single row. Labels that the trace can have are fine, even
// without values at this time.
Result<void> check_label(const std::string& by, const Source& source) {
  if (!by.starts_with("label:")) return {};
  const std::string wanted = label_key_of(by);
  std::vector<std::string> keys = label_keys(*source.profile);
  if (source.trace)
    for (const std::string_view key : trace_label_keys)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.emplace_back(key);
  if (keys.empty() || std::find(keys.begin(), keys.end(), wanted) != keys.end()) return {};
  constexpr std::size_t named_max = 12;
  std::string known;
  for (std::size_t i = 0; i < std::min(keys.size(), named_max); ++i)
    known += (known.empty() ? "" : ", ") + printable(keys[i]);
  if (keys.size() > named_max) known += fmt::format(" and {} more", keys.size() - named_max);
  return Failure(refusal(fmt::format("there is no label '{}'", wanted), fmt::format("Labels: {}.", known)));
}

// Only one of the answers that replace the rows (trees, callers) can be printed at a time.
Result<void> check_rows(const ReportOptions& options, bool has_groups) {
  std::string flag, key;
  for (const AnswerRow* row : answer_table()) {
    if (row->placement != Placement::instead_of_rows || !options.used.has(row->flag)) continue;
    const bool is_same_key = !row->key.empty() && row->key == key;
    if (!flag.empty() && (!options.json || is_same_key))
      return Failure(refusal(fmt::format("{} and {} can't be combined", flag, row->flag), "Use one of them."));
    flag = row->flag;
    key = row->key;
  }
  if (flag.empty() || options.json) return {};
  if (has_groups)
    return Failure(refusal(fmt::format("{} shows frames, and --by {} groups samples", flag, options.by),
                           fmt::format("Remove {}, or use --by function, line, file, package or address.", flag)));
  return options.used.refuse({"--own", "--cum", "--count"}, fmt::format("can't be combined with {}", flag));
}

// Refuses options that would otherwise be ignored.
Result<void> check_profile_options(const ReportOptions& options) {
  const UsedOptions& used = options.used;
  for (const std::string& name : options.only)
    if (const auto row = find_answer_row(name); !row) return Failure(row.error());
  if (used.has("--only"))
    for (const AnswerRow* row : answer_table())
      if (row->placement == Placement::instead_of_rows && row->value_name.empty())
        if (auto allowed = used.refuse({row->flag}, "can't be combined with --only, which takes names"); !allowed)
          return allowed;
  if (auto allowed = used.refuse({"--order", "--ascending"}, "needs --blocks"); !allowed) return allowed;
  if (used.has("--series")) {
    if (auto allowed = used.refuse(answer_flags(), "can't be combined with --series, which prints totals"); !allowed)
      return allowed;
    return used.refuse({"--fail-if", "--by", "--top", "--own", "--cum", "--count", "--relative", "--only", "--brief"},
                       "can't be combined with --series, which prints totals");
  }
  const bool has_groups = !label_key_of(options.by).empty();
  if (has_groups)
    if (auto allowed = used.refuse({"--cum", "--count"}, "does not apply to groups, which have one sum each"); !allowed)
      return allowed;
  if (auto allowed = check_rows(options, has_groups); !allowed) return allowed;
  if (options.json) return used.refuse({"--relative"}, "does not apply to JSON, which has no percentages");
  return has_groups ? used.refuse({"--own"}, "can't be combined with groups") : Result<void>{};
}

// Of a trace, the filter may also be one of blocks, as in the window and in report --blocks: ages, addresses, your
// code.
Result<ProfileView> make_view_of(const Source& source, const ViewRequest& request) {
  auto view = make_view(source.profile, request);
  if (view || !source.trace || request.where.empty() || !request.value_type.empty()) return view;
  if (!parse_where(where_from_find(request.where), block_where_fields(*source.trace))) return view;
  return make_view_of_blocks(*source.trace, source.states, request, {});
}

}  // namespace

int run_report(const ReportOptions& options) {
  if (options.used.has("--follow")) {
    if (auto alone = options.used.refuse_all_but({"--follow", "--json"}, "can't be combined with --follow"); !alone)
      return fail(alone.error());
    return run_report_follow(options);
  }
  if (options.used.has("--from")) return run_report_range(options);
  if (options.used.has("--blocks") || options.used.has("--address")) return run_report_blocks(options);
  if (auto combined = check_profile_options(options); !combined) return fail(combined.error());
  ViewRequest request = options.view.request;
  if (label_key_of(options.by).empty()) {
    const auto by = parse_frame_by(options.by);
    if (!by) return fail(by.error());
    request.by = *by;
  }
  if (options.used.has("--series")) return run_report_series(options, request);
  std::vector<NamedProgram> programs;
  LoadOptions load = load_options(options.view);
  load.chooses_time = true;
  const auto source = load_merged(options.files, load, &programs);
  if (!source) return fail(source.error());
  if (auto known = check_label(options.by, *source); !known) return fail(known.error());
  const auto view = make_view_of(*source, request);
  if (!view) return fail(view.error());
  AnswerInput input = input_from(options, *source, *view);
  input.programs = programs;
  PassControl control;
  input.control = &control;
  const auto text = [&] {
    const ProgressLine progress("Report", control);
    return input.audience == Audience::programs ? json_report(options, *source, input)
                                                : text_report(options, *source, input);
  }();
  if (!text) return fail(text.error());
  if (options.gate.condition.empty()) return print_to_stdout(*text) ? exit_ok : exit_unreadable;
  // Figures of a trace's heaps; a condition that has none of them is about what the report adds up.
  auto failure = find_gate_failure(options.gate.condition, *view);
  if (source->trace && !failure) failure = find_gate_failure(options.gate.condition, *source->trace);
  return print_with_gate(*text, options.gate, failure);
}

}  // namespace hbmscope::cli
