// hbmscope diff: the changes, always as now - baseline.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/judge/gate.h"
#include "analysis/model/clamped.h"
#include "analysis/query/diff.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/diff_traces.h"
#include "app/cli/figure_text.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

Ink ink_of(Change change) {
  if (change == Change::grown || change == Change::added) return Ink::bad;
  if (change == Change::shrunk || change == Change::gone) return Ink::good;
  return Ink::dim;
}

std::string change_columns(const Weight& baseline, const Weight& now, const std::string& unit) {
  const TextPair sizes = texts_from_values(baseline.bytes, now.bytes, unit);
  const std::int64_t delta = clamped_difference(now.bytes, baseline.bytes);
  const std::int64_t delta_count = clamped_difference(now.count, baseline.count);
  return fmt::format("{}  {}  {:>10} -> {:<10}  {}", pad_left(delta_text_from_value(delta, unit), 10),
                     pad_left(delta_text_from_share(baseline.bytes, now.bytes), 9), sizes.first, sizes.second,
                     pad_left(delta_text_from_count(delta_count), 6));
}

std::string group_changes(const std::vector<GroupDiffRow>& rows, std::string_view head, const std::string& unit,
                          const Terminal& terminal) {
  if (rows.empty() || (rows.size() == 1 && !rows.front().name)) return {};
  std::string text = terminal.paint(fmt::format("\n{:>10}  {:>9}  {:>24}  {:>6}  by {}", "change", "",
                                                "baseline -> now   ", "count", head),
                                    Ink::dim) +
                     "\n";
  for (const GroupDiffRow& group : rows)
    text += fmt::format("{}  {}\n", change_columns(group.baseline, group.now, unit),
                        group.name ? printable(*group.name) : "(unknown)");
  return text;
}

std::string stack_text(const ProfileDiff& diff, const DiffRow& stack, const DiffOptions& options,
                       const Terminal& terminal) {
  std::string text = fmt::format("{}  {}\n", change_columns(stack.baseline, stack.now, printable(diff.unit)),
                                 terminal.paint(text_from_change(stack.change), ink_of(stack.change)));
  // Frames of your code say more than the library frames between them. If there are none, use the innermost frames.
  std::vector<const Frame*> own, all;
  for (const FrameIndex index : stack.stack) {
    const Frame& frame = diff.frame_table[row(index)];
    all.push_back(&frame);
    if (!frame.is_library) own.push_back(&frame);
  }
  const std::vector<const Frame*>& frames = own.empty() ? all : own;
  const std::size_t shown = options.frames == 0 ? frames.size() : std::min(frames.size(), options.frames);
  for (std::size_t i = 0; i < shown; ++i) text += "            " + text_from_frame(*frames[i], terminal) + "\n";
  if (all.empty()) text += "            (no stack)\n";
  if (shown < all.size())
    text += terminal.paint(fmt::format("            and {}", text_from_count_of(all.size() - shown, "more frame")),
                           Ink::dim) +
            "\n";
  return text;
}

std::string diff_text(const ProfileDiff& diff, const std::optional<TraceDiff>& traces, const DiffOptions& options) {
  const Terminal terminal = Terminal::of_stdout();
  const std::string unit = printable(diff.unit);
  std::string text = terminal.paint(fmt::format("now: {}   baseline: {}   (change = now - baseline)",
                                                printable(diff.now_name), printable(diff.baseline_name)),
                                    Ink::bold) +
                     "\n";
  if (traces) text += text_before_diff(*traces, terminal) + text_from_heaps(*traces, terminal);
  text += fmt::format("{}  total\n", change_columns(diff.baseline, diff.now, unit));
  if (diff.baseline.unknown + diff.now.unknown > 0)
    text += fmt::format("{} programs of unknown size in the baseline, {} now; no sum includes them.\n",
                        text_from_count(diff.baseline.unknown), text_from_count(diff.now.unknown));
  text += group_changes(diff.devices, "device", unit, terminal) + group_changes(diff.kinds, "kind", unit, terminal);

  if (traces) text += text_from_blocks(*traces, options, terminal);

  const auto changed =
      std::count_if(diff.stacks.begin(), diff.stacks.end(), [](const DiffRow& s) { return s.change != Change::same; });
  text += terminal.paint(fmt::format("\n{:>10}  {:>9}  {:>24}  {:>6}  stacks, matched by {}, largest change first",
                                     "change", "", "baseline -> now   ", "count",
                                     diff.match == StackMatch::line ? "function, file and line" : "function and file"),
                         Ink::dim) +
          "\n";
  std::size_t shown = 0;
  for (const DiffRow& stack : diff.stacks) {
    if (stack.change == Change::same || (options.top != 0 && shown == options.top)) break;
    text += stack_text(diff, stack, options, terminal);
    ++shown;
  }
  if (changed == 0)
    text += "no stack changed\n";
  else if (static_cast<std::size_t>(changed) > shown)
    text += terminal.paint(fmt::format("{} of {} changed stacks; --top 0 prints all", shown, text_from_count(changed)),
                           Ink::dim) +
            "\n";
  if (diff.is_by_file_name)
    text += "\nOne side has no paths (convert --strip-paths): files are matched by name, without folders.\n";
  text +=
      fmt::format("\n{} of the bytes of both sides are in stacks that only one side has{}.\n",
                  text_from_share(diff.unmatched_bytes, diff.compared_bytes),
                  diff.match == StackMatch::function ? " (line numbers are ignored; --match line compares them)" : "");
  return text;
}

enum class End { first, last };

// The first or the last of the files that opens. Those of a folder that are of other formats are removed from the list;
// a comparison needs two that remain.
Result<Source> load_end(std::vector<NamedFile>& files, End end, const LoadOptions& options, SkippedFiles& skipped) {
  while (true) {
    const auto at = end == End::first ? files.begin() : files.end() - 1;
    auto source = load_merged({at->path}, options);
    if (source || !is_skipped(*at, source.error(), skipped)) return source;
    files.erase(at);
    if (files.size() < 2)
      return Failure(refusal("a comparison needs two files, and this folder has fewer that open: " + skipped.text(),
                             "Name the two files: hbmscope diff BASELINE NOW.", skipped.nothing_opens().file));
  }
}

}  // namespace

int run_diff(const DiffOptions& options) {
  if (options.match != "function" && options.match != "line")
    return fail(
        refusal(fmt::format("cannot match stacks by '{}'", options.match), "Use --match function or --match line."));
  if (auto allowed =
          options.used.refuse({"--relative"}, "does not apply to diff, which prints percentages of the change");
      !allowed)
    return fail(allowed.error());
  if (options.json)
    if (auto allowed = options.used.refuse({"--frames"}, "does not apply to JSON, which has whole stacks"); !allowed)
      return fail(allowed.error());
  auto files = expand_files(options.files);
  if (!files) return fail(files.error());
  // Two names are the baseline and now. For a folder or a longer list, the first and the last file are compared.
  if (files->size() == 1 && !options.from.empty()) files->push_back(files->front());  // One trace at two times.
  if (files->size() == 1 && !options.view.at.empty())
    return fail(refusal("--at is one time, and a comparison needs two", "Add the time of the baseline: --from TIME."));
  if (files->size() < 2)
    return fail(
        refusal("a comparison needs two files",
                "hbmscope diff BASELINE NOW, or a folder with at least two; for one trace: --from TIME --at TIME."));
  // With --same, the side with a given time leads and the other one follows.
  const auto same = parse_same_moment(options.same);
  const bool baseline_leads = same && !options.from.empty();
  if (baseline_leads && !options.view.at.empty())
    return fail(refusal("--same finds one of the two times, and both are given", "Remove --from or --at."));
  LoadOptions load = load_options(options.view);
  if (!options.from.empty() || same) load.at = options.from;
  // For a what-if, the unmodified workload is the baseline.
  const bool is_one_file = options.files.size() == 1;
  if (!is_one_file) load.what_if.clear();
  SkippedFiles skipped;
  auto before = load_end(*files, End::first, load, skipped);
  if (!before) return fail(before.error());
  // One trace at two times is read only once, so its blocks can be matched by id.
  const bool is_one_trace = before->trace != nullptr && files->front().path == files->back().path &&
                            (is_one_file || options.view.what_if.empty());
  auto after = is_one_trace ? load_again(*before, load_options(options.view))
                            : load_end(*files, End::last, load_options(options.view), skipped);
  if (!after) return fail(after.error());
  print_skipped(skipped);
  if (same) {
    Result<Source>& follows = baseline_leads ? after : before;
    const Source& leads = baseline_leads ? *before : *after;
    const auto heap = find_compared_heap(leads, options.heap);
    if (!heap) return fail(heap.error());
    follows = load_at_same(*follows, leads, *heap, *same, load);
    if (!follows) return fail(follows.error());
  }
  ViewRequest request = options.view.request;
  request.by = FrameBy::line;
  const auto baseline = make_view(before->profile, request), now = make_view(after->profile, request);
  if (!baseline) return fail(baseline.error());
  if (!now) return fail(now.error());
  if (const auto mismatch = find_mismatch(*baseline, *now)) return fail(*mismatch);
  const ProfileDiff diff =
      compute_diff(*baseline, *now, options.match == "line" ? StackMatch::line : StackMatch::function);
  const auto heap = find_compared_heap(*after, options.heap);
  if (!heap) return fail(heap.error());
  const std::optional<TraceDiff> traces = compute_trace_diff(*before, *after, *heap);
  const auto json_text = [&] {
    const auto json = json_from_diff(diff, options.top);
    return text_from_json(traces ? json_with_traces(json, *traces, options.top) : json);
  };
  const auto failure =
      options.gate.condition.empty() ? std::optional<std::string>() : find_gate_failure(options.gate.condition, diff);
  return print_with_gate(options.json ? json_text() : diff_text(diff, traces, options), options.gate, failure);
}

}  // namespace hbmscope::cli
