#include "app/cli/export/export_trace.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "analysis/units/format.h"
#include "analysis/write/metrics.h"
#include "analysis/write/perfetto.h"
#include "analysis/write/trace_table.h"
#include "app/cli/cli.h"
#include "app/cli/load.h"
#include "app/cli/export/parquet.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

// Refuses options that would otherwise be ignored.
Result<void> check_export_options(const ExportOptions& options) {
  if (options.to != "csv" && options.to != "json" && options.to != "parquet")
    if (auto allowed =
            options.used.refuse({"--what"}, "needs --to csv, json or parquet, which write one row per event or block");
        !allowed)
      return allowed;
  if (options.to == "parquet" && options.output.empty())
    return Failure(refusal("Parquet can't be written to standard output", "Add -o FILE."));
  if (options.to != "perfetto")
    if (auto allowed = options.used.refuse({"--step"}, "needs --to perfetto"); !allowed) return allowed;
  for (const std::string_view filter :
       {"--where", "--focus", "--ignore", "--hide", "--show", "--value", "--keep-dropped-frames"})
    if (options.used.has(filter))
      return Failure(refusal(fmt::format("{} does not apply: all events of a trace are written", filter),
                             "Remove it; --at limits the events to those before a time."));
  return {};
}

using WriteTo = std::function<ExportEnd(const TextSink&)>;

int write_to_stdout(const WriteTo& write) {
  return write(print_lines_to_stdout) == ExportEnd::whole ? exit_ok : exit_unreadable;
}

int write_to_file(const std::string& name, const WriteTo& write) {
  std::ofstream file(name, std::ios::binary);
  const auto sink = [&](std::string_view text) {
    return static_cast<bool>(file.write(text.data(), static_cast<std::streamsize>(text.size())));
  };
  const bool is_whole = file && write(sink) == ExportEnd::whole;
  file.close();
  if (is_whole && file) return exit_ok;
  return fail(refusal(fmt::format("cannot write the file: {}", std::strerror(errno)),
                      "Check the free space and the permissions of the folder.", name));
}

// Without a time of day, that of now.
std::string metrics_text(const Source& source, std::string_view to) {
  const std::vector<Metric> metrics = compute_metrics(*source.trace, source.states, {});
  if (to == "prometheus") return prometheus_from_metrics(metrics);
  OtlpSource from;
  from.instance = source.trace->files.empty() ? "" : source.trace->files.front();
  from.begun_ns = find_begin_ns(*source.trace);
  for (std::size_t i = 0; i < source.states.size(); ++i)
    if (const Stream& stream = source.trace->streams[i]; stream.has_times())
      from.time_ns = std::max(from.time_ns, stream.clocks().realtime_of(source.states[i].time_ns()).value_or(0));
  if (from.time_ns <= 0)
    from.time_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
  return otlp_from_metrics(metrics, from);
}

}  // namespace

bool is_trace_export(const ExportOptions& options) {
  return options.to == "perfetto" || options.to == "parquet" || options.to == "prometheus" || options.to == "otlp" ||
         !options.what.empty() || !options.step.empty();
}

int run_trace_export(const ExportOptions& options) {
  if (auto combined = check_export_options(options); !combined) return fail(combined.error());
  TraceTable table = TraceTable::events;
  if (!options.what.empty()) {
    const auto parsed = parse_trace_table(options.what);
    if (!parsed) return fail(parsed.error());
    table = *parsed;
  }
  PerfettoOptions perfetto;
  if (!options.step.empty()) {
    const auto step = parse_bytes(options.step);
    if (!step) return fail(step.error());
    if (*step < 1) return fail(refusal("--step must be at least one byte", "For example --step 1MiB."));
    perfetto.step_bytes = static_cast<std::uint64_t>(*step);
  }
  LoadOptions load = load_options(options.view);
  load.chooses_time = options.to == "prometheus" || options.to == "otlp";  // The others have the whole past.
  const auto source = load_merged(options.files, load);
  if (!source) return fail(source.error());
  say_chosen_time(*source, load);
  if (!source->trace)
    return fail(refusal(
        "a profile has no events",
        "Use snapshots, logs or recordings; or remove --what, or export to pprof, folded, svg, csv, json or html."));
  PassControl control;
  const ProgressLine progress("Writing", control);
  const WriteTo write = [&](const TextSink& sink) {
    if (options.to == "perfetto") return write_perfetto(*source->trace, source->states, perfetto, sink, &control);
    if (options.to == "prometheus" || options.to == "otlp")
      return sink(metrics_text(*source, options.to)) ? ExportEnd::whole : ExportEnd::refused;
    if (options.to == "json") return write_trace_json(*source->trace, source->states, table, sink, &control);
    const CsvReader reader = options.to == "parquet" ? CsvReader::program : CsvReader::spreadsheet;
    return write_trace_csv(*source->trace, source->states, table, sink, &control, reader);
  };
  if (options.to == "parquet") {
    if (auto written = write_parquet(options.python, options.output, write); !written) return fail(written.error());
    return exit_ok;
  }
  return options.output.empty() ? write_to_stdout(write) : write_to_file(options.output, write);
}

}  // namespace hbmscope::cli
