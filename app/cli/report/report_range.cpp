#include "app/cli/report/report_range.h"

#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/range.h"
#include "analysis/document/json.h"
#include "analysis/document/text.h"
#include "analysis/query/range_summary.h"
#include "analysis/write/json.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

Result<void> check_range_options(const ReportOptions& options) {
  constexpr std::string_view why = "can't be combined with --from, which prints everything that changed";
  if (auto allowed = options.used.refuse(answer_flags(), why); !allowed) return allowed;
  return options.used.refuse(
      {"--where", "--focus", "--ignore", "--hide", "--show", "--value", "--keep-dropped-frames", "--relative", "--by",
       "--cum", "--count", "--series", "--fail-if", "--only", "--brief", "--blocks", "--address", "--order", "--ascending"},
      why);
}

}  // namespace

int run_report_range(const ReportOptions& options) {
  if (options.from.empty())
    return fail(refusal("the time of --from is empty", "Write start, peak, oom, 12.5s or '#4711'."));
  if (auto checked = check_range_options(options); !checked) return fail(checked.error());
  LoadOptions load = load_options(options.view);
  load.at.clear();
  const auto source = load_merged(options.files, load);
  if (!source) return fail(source.error());
  if (!source->trace)
    return fail(
        refusal("a profile has no range: it has no events", "Remove --from, or use one snapshot, log or recording."));
  const Trace& trace = *source->trace;
  const auto range = find_range(trace, options.from, options.view.at);
  if (!range) return fail(range.error());
  PassControl control;
  const auto summary = [&] {
    const ProgressLine progress("Range", control);
    return compute_range_summary(trace, compute_states(trace, range->from), compute_states(trace, range->to), &control);
  }();
  const Audience audience = options.json ? Audience::programs : Audience::readers;
  const Document described = describe_range(trace, *range, *summary, {options.own, options.top}, audience);
  if (!options.json)
    return print_to_stdout(text_from_document(described, Terminal::of_stdout().style())) ? exit_ok : exit_unreadable;
  nlohmann::ordered_json json = {{"schema", json_schema}, {"format", trace.format}, {"files", trace.files}};
  json["range"] = json_from_document(described);
  return print_to_stdout(text_from_json(json)) ? exit_ok : exit_unreadable;
}

}  // namespace hbmscope::cli
