// hbmscope export: the same rows in the formats of other programs.
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/write/write.h"
#include "app/cli/cli.h"
#include "app/cli/export/export_trace.h"
#include "app/cli/export/export_viewer.h"
#include "app/cli/export/output_file.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
int run_export(const ExportOptions& options) {
  if (auto allowed = options.used.refuse({"--relative"}, "does not apply to exports, which have no percentages");
      !allowed)
    return fail(allowed.error());
  if (options.to != "parquet")
    if (auto allowed = options.used.refuse({"--python"}, "needs --to parquet"); !allowed) return fail(allowed.error());
  if (auto allowed = check_output(options.files, options.output); !allowed) return fail(allowed.error());
  if (options.viewer && options.to != "html")
    return fail(refusal("--viewer needs --to html", "Leave --viewer out, or write a page."));
  if (options.viewer) return run_viewer_export(options);
  if (is_trace_export(options)) return run_trace_export(options);
  const auto format = parse_export_format(options.to);
  if (!format) return fail(format.error());
  if (options.output.empty() && *format == ExportFormat::pprof && isatty(STDOUT_FILENO) == 1)
    return fail(refusal("a pprof profile is binary and can't be printed in a terminal",
                        "Write it to a file with -o FILE, or pipe it."));
  LoadOptions load = load_options(options.view);
  load.chooses_time = true;
  const auto source = load_merged(options.files, load);
  if (!source) return fail(source.error());
  say_chosen_time(*source, load);
  const auto view = make_view(source->profile, options.view.request);
  if (!view) return fail(view.error());
  nlohmann::ordered_json of_trace = nlohmann::ordered_json::object();
  if (source->trace && *format == ExportFormat::json) {
    AnswerInput input{
        .view = *view, .trace = source->trace.get(), .states = &source->states, .moment = &source->moment};
    input.audience = Audience::programs;
    if (auto added = add_trace_answers(of_trace, input); !added) return fail(added.error());
  }
  const std::string bytes = *format == ExportFormat::json ? write_json(*view, of_trace) : write_profile(*view, *format);
  if (options.output.empty()) {
    const bool is_text = *format != ExportFormat::pprof;
    return (is_text ? print_lines_to_stdout(bytes) : print_to_stdout(bytes)) ? exit_ok : exit_unreadable;
  }
  const auto written = write_output(options.output, bytes);
  return written ? exit_ok : fail(written.error());
}

}  // namespace hbmscope::cli
