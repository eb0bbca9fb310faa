// hbmscope report: what holds the memory.
#include <cstdio>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/trace/profile_from_trace.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_metrics.h"
#include "analysis/write/json_trace.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report_failures.h"
#include "app/cli/report_metrics.h"
#include "app/cli/report_program.h"
#include "app/cli/report_range.h"
#include "app/cli/report_series.h"
#include "app/cli/report_text.h"
#include "app/cli/report_told.h"
#include "app/cli/report_trace.h"

namespace hbmscope::cli {
namespace {

TopOrder order_of(const ReportOptions& options) {
  if (options.by_count) return options.cumulative ? TopOrder::cum_count : TopOrder::flat_count;
  return options.cumulative ? TopOrder::cum_bytes : TopOrder::flat_bytes;
}

std::size_t rows_wanted(const ReportOptions& options) {
  return options.top == 0 ? static_cast<std::size_t>(-1) : options.top;
}

// The frames whose function matches --peek, the largest first.
Result<std::vector<Neighbours>> find_peeked(const ReportOptions& options, const ProfileView& view) {
  // The expression is compiled by making a view that focuses on it: one rule for all expressions.
  ViewRequest request = view.request;
  request.show = options.peek;
  request.where.clear();
  auto matching = make_view(view.profile, request);
  if (!matching) return Failure(matching.error());
  const auto key = [](const Frame& frame) { return std::tie(frame.function, frame.file, frame.line); };
  std::set<std::tuple<std::string, std::string, std::int64_t>> names;
  for (const Frame& frame : matching->frames) names.emplace(frame.function, frame.file, frame.line);
  std::vector<Neighbours> found;
  for (const TopRow& top : compute_top(view, TopOrder::cum_bytes)) {
    const bool is_match = names.count(key(view.frames[row(top.frame)])) > 0;
    if (is_match) found.push_back(compute_neighbours(view, top.frame));
    if (options.top != 0 && found.size() == options.top) break;
  }
  if (found.empty())
    return Failure(
        Error{fmt::format("no frame matches '{}'", options.peek), "Try a part of a function's name.", {}, {}, false});
  return found;
}

// What is worked out before anything is printed, because it may fail.
struct Extras {
  std::vector<Neighbours> peeked;
  std::vector<HeapMetrics> metrics;  // With --metrics: one a heap.
};

std::string json_report(const ReportOptions& options, const Source& source, const ProfileView& view,
                        const Extras& extras) {
  nlohmann::ordered_json json = json_from_view(view);
  if (source.trace) add_trace(json, source);
  for (std::size_t i = 0; i < extras.metrics.size(); ++i)
    json["heaps"][i]["metrics"] = json_from_heap_metrics(extras.metrics[i]);
  json["by"] = options.by;
  if (const std::string key = label_key_of(options.by); !key.empty()) {
    json["rows"] = json_from_group_rows(compute_groups(view, key));
  } else {
    json["rows"] = json_from_top(view, compute_top(view, order_of(options), rows_wanted(options)), options.top);
  }
  json["own_code"] = json_from_own_code(compute_own_code(view), options.own);
  if (options.tree || options.bottom_up)
    json["tree"] = json_from_call_tree(
        view, *compute_call_tree(view, options.tree ? TreeDirection::callees : TreeDirection::callers));
  for (const Neighbours& neighbours : extras.peeked) json["peek"].push_back(json_from_neighbours(view, neighbours));
  return text_from_json(json);
}

// Both walk all stacks; side by side they take the time of one.
std::pair<std::vector<OwnCodeRow>, std::vector<TopRow>> own_code_and_top(const ReportOptions& options,
                                                                         const ProfileView& view) {
  std::vector<OwnCodeRow> own;
  const auto find_own = [&] { own = compute_own_code(view); };
  std::thread other;
  try {
    other = std::thread(find_own);
  } catch (const std::system_error&) {  // A container may forbid more threads.
    find_own();
  }
  std::vector<TopRow> top = compute_top(view, order_of(options), rows_wanted(options));
  if (other.joinable()) other.join();
  return {std::move(own), std::move(top)};
}

std::string text_report(const ReportOptions& options, const Source& source, const ProfileView& view,
                        const Extras& extras) {
  const Terminal terminal = Terminal::of_stdout();
  const ProfileSummary summary = compute_summary(view);
  const Weight& whole = options.view.relative ? view.selected : view.total;
  const ReportStyle style{
      terminal, whole.bytes,
      text_from_value(whole.bytes, printable(summary.unit)) + (options.view.relative ? " after filtering" : " in all"),
      printable(summary.unit), options.top};
  std::string text = text_from_summary(summary, view, style) +
                     (source.trace ? "\n" + text_from_trace(source, terminal) + text_from_program(*source.trace) +
                                         text_from_told(source, terminal)
                                   : "") +
                     (extras.metrics.empty() ? "" : "\n" + text_from_metrics(source, extras.metrics, terminal)) +
                     text_from_import_badge(view.profile->import, terminal) + "\n";
  if (!extras.peeked.empty()) {
    for (const Neighbours& neighbours : extras.peeked) text += text_from_neighbours(view, neighbours, style) + "\n";
    return text;
  }
  if (options.tree || options.bottom_up)
    return text +
           text_from_tree(
               view, *compute_call_tree(view, options.tree ? TreeDirection::callees : TreeDirection::callers), style);
  if (const std::string key = label_key_of(options.by); !key.empty())
    return text + text_from_groups(compute_groups(view, key), key, style);
  const auto [own_rows, top_rows] = own_code_and_top(options, view);
  const std::string own = text_from_own_code(own_rows, options.own, style);
  if (!own.empty()) text += own + "\n";
  return text + text_from_top(view, top_rows, options.by, style);
}

// A misspelt label would be one row of everything. What a trace can have counts, whatever it has at this moment.
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
  return Failure(
      Error{fmt::format("nothing here has a label '{}'", wanted), fmt::format("Labels: {}.", known), {}, {}, false});
}

// What would otherwise be left out without a word.
Result<void> check_profile_options(const ReportOptions& options) {
  const Given& given = options.given;
  if (auto allowed = given.refuse({"--order", "--ascending"}, "is for --blocks"); !allowed) return allowed;
  if (options.tree && options.bottom_up)
    return Failure(Error{"--tree and --bottom-up can't be printed at once", "Give one of them.", {}, {}, false});
  if (options.series)
    return given.refuse({"--tree", "--bottom-up", "--metrics", "--peek", "--fail-if", "--by", "--top", "--own", "--cum",
                         "--count", "--relative"},
                        "does not go with --series, which prints totals only");
  const bool has_groups = !label_key_of(options.by).empty();
  if (has_groups)
    if (auto allowed = given.refuse({"--cum", "--count"}, "does not apply to groups, which have one sum each");
        !allowed)
      return allowed;
  // JSON has the rows and the lines of own code beside a tree or neighbours.
  if (options.json) return given.refuse({"--relative"}, "is for text: JSON has no shares");
  const bool has_tree = options.tree || options.bottom_up, has_peek = !options.peek.empty();
  if (has_tree && has_peek)
    return Failure(Error{"a tree and --peek can't be printed at once", "Give one of them.", {}, {}, false});
  if (has_groups && (has_tree || has_peek))
    return Failure(Error{fmt::format("--by {} groups samples, and a tree or --peek is of frames", options.by),
                         "Give one of them, or --by function, line, file, package or address.",
                         {},
                         {},
                         false});
  if (has_tree) return given.refuse({"--own", "--cum", "--count"}, "does not go with a tree");
  if (has_peek) return given.refuse({"--own", "--cum", "--count"}, "does not go with --peek");
  return has_groups ? given.refuse({"--own"}, "does not go with groups") : Result<void>{};
}

}  // namespace

int run_report(const ReportOptions& options) {
  if (options.given.has("--from")) return run_report_range(options);
  if (options.given.has("--blocks") || options.given.has("--address")) return run_report_blocks(options);
  if (auto combined = check_profile_options(options); !combined) return fail(combined.error());
  ViewRequest request = options.view.request;
  if (label_key_of(options.by).empty()) {
    const auto by = parse_frame_by(options.by);
    if (!by) return fail(by.error());
    request.by = *by;
  }
  if (options.series) return run_report_series(options, request);
  const auto source = load_merged(options.files, load_options(options.view));
  if (!source) return fail(source.error());
  if (auto known = check_label(options.by, *source); !known) return fail(known.error());
  const auto view = make_view(source->profile, request);
  if (!view) return fail(view.error());
  Extras extras;
  if (!options.peek.empty()) {
    auto found = find_peeked(options, *view);
    if (!found) return fail(found.error());
    extras.peeked = std::move(*found);
  }
  if (options.metrics) {
    auto computed = load_metrics(*source);
    if (!computed) return fail(computed.error());
    extras.metrics = std::move(*computed);
  }
  std::optional<std::string> failure;
  if (!options.fail_if.empty()) {
    auto found = find_gate_failure(options.fail_if, *view);
    if (!found) return fail(found.error());
    failure = std::move(*found);
  }
  if (!print_to_stdout(options.json ? json_report(options, *source, *view, extras)
                                    : text_report(options, *source, *view, extras)))
    return exit_unreadable;
  if (!failure) return exit_ok;
  fmt::print(stderr, "hbmscope: {}\n", printable(*failure));
  return exit_gate_failed;
}

}  // namespace hbmscope::cli
