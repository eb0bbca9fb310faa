// hbmscope diff: the changes, always as now - baseline.
#include <memory>

#include <fmt/format.h>

#include "analysis/answers/diff.h"
#include "analysis/judge/gate.h"
#include "analysis/query/diff.h"
#include "app/cli/answer_text.h"
#include "app/cli/cli.h"
#include "app/cli/gate.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/report/diff_traces.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

Result<std::string> text_of(const std::shared_ptr<const ProfileDiff>& diff, const std::optional<TraceDiff>& traces,
                            const DiffOptions& options) {
  const bool is_json = options.json || options.brief > 0;
  const Document document = describe_diff(diff, traces ? &*traces : nullptr, {options.top, is_json});
  if (is_json) return text_from_answer(document, {{"format", traces ? traces->now.format : "pprof"}}, options.brief);
  TextStyle style = Terminal::of_stdout().style();
  style.frames = options.frames;
  return text_from_document(document, style);
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
  if (options.json || options.brief > 0)
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
  LoadOptions load = load_options(options.view), load_now = load;
  // A run that has ended holds nothing, whatever it did: two are compared at the times at which they are reported.
  load.chooses_time = load_now.chooses_time = options.from.empty() && !same;
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
  auto after = is_one_trace ? load_again(*before, load_now) : load_end(*files, End::last, load_now, skipped);
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
  const auto diff = std::make_shared<const ProfileDiff>(
      compute_diff(*baseline, *now, options.match == "line" ? StackMatch::line : StackMatch::function));
  const auto heap = find_compared_heap(*after, options.heap);
  if (!heap) return fail(heap.error());
  const std::optional<TraceDiff> traces = compute_trace_diff(*before, *after, *heap);
  const auto failure =
      options.gate.condition.empty() ? std::optional<std::string>() : find_gate_failure(options.gate.condition, *diff);
  const Result<std::string> text = text_of(diff, traces, options);
  if (!text) return fail(text.error());
  return print_with_gate(*text, options.gate, failure);
}

}  // namespace hbmscope::cli
