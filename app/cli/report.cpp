// hbmscope report: what holds the memory.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/judge/gate.h"
#include "analysis/query/block_find.h"
#include "analysis/query/block_list.h"
#include "analysis/query/log_headline.h"
#include "analysis/query/view_of_blocks.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/profile_from_trace.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/explain.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report_blocks.h"
#include "app/cli/report_follow.h"
#include "app/cli/report_range.h"
#include "app/cli/report_section.h"
#include "app/cli/report_series.h"
#include "app/cli/report_text.h"
#include "app/cli/source_verdict.h"

namespace hbmscope::cli {
namespace {

Result<std::string> json_report(const ReportInput& input) {
  nlohmann::ordered_json json = with_verdict(json_from_view(input.view), input.source);
  for (const ReportSection& section : report_sections())
    if (section.add_json != nullptr && is_wanted(section, input))
      if (auto added = section.add_json(json, input); !added) return Failure(added.error());
  return text_from_json(json);
}

Result<std::string> text_report(const ReportInput& input) {
  const Terminal terminal = Terminal::of_stdout();
  const ReportOptions& options = input.options;
  const ProfileSummary summary = compute_summary(input.view);
  const Weight& whole = options.view.relative ? input.view.selected : input.view.total;
  const std::string unit = printable(summary.unit);
  const ReportStyle style{terminal, whole.bytes,
                          text_from_value(whole.bytes, unit) + (options.view.relative ? " after filtering" : " total"),
                          unit, options.top};
  const bool is_log = input.source.trace != nullptr && is_of_log(*input.source.trace);
  const bool has_failed = input.source.trace != nullptr && !find_failed_requests(*input.source.trace).empty();
  std::string text = verdict_text(input.source, terminal);
  if (has_failed) text += text_from_failures(*input.source.trace, terminal) + (is_log ? "" : "\n");
  if (!is_log)
    text += text_from_summary(summary, input.view, style);
  else if (!has_failed)
    text += terminal.paint(headline_of_log(*input.source.trace), Ink::bold) + "\n";
  const auto sections = report_sections();
  const bool has_rows = std::none_of(sections.begin(), sections.end(), [&](const ReportSection& section) {
    return section.replaces_rows && is_wanted(section, input);
  });
  for (const ReportSection& section : sections) {
    const bool is_body = section.replaces_rows || section.name == "rows";
    if (section.text == nullptr || !is_wanted(section, input) || (section.name == "rows" && !has_rows)) continue;
    if (is_log && section.name == "rows" && input.view.frames.empty()) continue;
    auto part = section.text(input, style);
    if (!part) return part;
    text += (is_body ? "\n" : "") + *part;
  }
  return text;
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

// Only one of the sections that replace the rows (trees, callers) can be printed at a time.
Result<void> check_rows(const ReportOptions& options, bool has_groups) {
  std::string flag;
  for (const ReportSection& section : report_sections()) {
    if (!section.replaces_rows || !options.used.has(section.flag)) continue;
    const std::string both = fmt::format("{} and {} can't be combined", flag, section.flag);
    if (!flag.empty() && (!options.json || section.name == "tree")) return Failure(refusal(both, "Use one of them."));
    flag = section.flag;
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
  if (auto allowed = used.refuse({"--order", "--ascending"}, "needs --blocks"); !allowed) return allowed;
  if (used.has("--series")) {
    if (auto allowed = used.refuse(section_flags(), "can't be combined with --series, which prints totals"); !allowed)
      return allowed;
    return used.refuse({"--fail-if", "--by", "--top", "--own", "--cum", "--count", "--relative"},
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
  load.prefers_failure = true;
  const auto source = load_merged(options.files, load, &programs);
  if (!source) return fail(source.error());
  if (auto known = check_label(options.by, *source); !known) return fail(known.error());
  const auto view = make_view_of(*source, request);
  if (!view) return fail(view.error());
  const ReportInput input{options, *source, *view, programs};
  const auto text = options.json ? json_report(input) : text_report(input);
  if (!text) return fail(text.error());
  if (options.gate.condition.empty()) return print_to_stdout(*text) ? exit_ok : exit_unreadable;
  // Figures of a trace's heaps; a condition that has none of them is about what the report adds up.
  auto failure = find_gate_failure(options.gate.condition, *view);
  if (source->trace && !failure) failure = find_gate_failure(options.gate.condition, *source->trace);
  return print_with_gate(*text, options.gate, failure);
}

}  // namespace hbmscope::cli
