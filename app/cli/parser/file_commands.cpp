// Commands for files: open, report, diff, check, convert, export.
#include <array>
#include <cctype>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/units/format.h"
#include "app/cli/load.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/parser/commands.h"
#ifdef HBMSCOPE_RUN
#include "app/cli/remote/far_bundle.h"
#endif

namespace hbmscope::cli {
namespace {

constexpr const char* profile_or_trace_help =
    "Profiles (sizes and stacks) or traces (snapshots, logs and recordings, with addresses and times), or folders of "
    "them. Several are added up; several traces are the ranks of one job. - is standard input";

// The earlier name of an option, kept for scripts.
template <class Value>
void add_earlier_name(CLI::App& command, const std::string& name, Value& value) {
  command.add_option(name, value)->group("");
}

void add_block_options(CLI::App& command, BlockReportOptions& options) {
  constexpr const char* group = "Single blocks of a trace, instead of the summary";
  command
      .add_option("--blocks", options.rows,
                  "Print this many live blocks, 0: all; --where then also takes age>10s, an address, ...")
      ->check(find_count_fault)
      ->type_name("N")
      ->group(group);
  command
      .add_option("--order", options.order,
                  "Sort blocks by size, requested, waste, age, lifetime, address, heap, code, tag, stream or state")
      ->capture_default_str()
      ->type_name("COLUMN")
      ->group(group);
  command.add_flag("--ascending", options.is_ascending, "Print the smallest first")->group(group);
  command
      .add_option("--address", options.address,
                  "Print the block or free gap at this address, and every block that was ever there")
      ->type_name("ADDRESS")
      ->group(group);
}

// Adds the flags in the table of answers.
void add_answer_options(CLI::App& command, ReportOptions& options) {
  std::string names;
  for (const AnswerRow* row : answer_table()) {
    names += (names.empty() ? "" : ", ") + std::string(row->name);
    const std::string flag(row->flag);
    if (flag.empty() || command.get_option_no_throw(flag) != nullptr) continue;
    const bool is_instead = row->placement == Placement::instead_of_rows;
    const std::string what = static_cast<char>(std::tolower(static_cast<unsigned char>(row->help.front()))) +
                             std::string(row->help.substr(1));
    const std::string help = is_instead ? "Print " + what + ", instead of rows" : "Also print " + what;
    if (row->value_name.empty())
      command.add_flag(flag, help);
    else
      command.add_option(flag, options.values[flag], help)->type_name(std::string(row->value_name));
  }
  command.add_option("--only", options.only, "Print only this answer: " + names)->type_name("NAME");
}

void add_pair_options(CLI::App& command, OpenRequest& request) {
  constexpr const char* group = "A second file, side by side";
  command
      .add_option("--compare-with", request.other_side,
                  "Show this file side by side with FILE; the same file again shows another time of it")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--compare-at", request.other_at, "The time of the second file, as --at")
      ->type_name("TIME")
      ->group(group);
  command.add_option("--compare-heap", request.other_heap, "The heap of the second file, as --heap")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--compare-what-if", request.other_what_if, "A change to the second file, as --what-if")
      ->type_name("KEY=VALUE")
      ->group(group);
  add_time_option(command, "--compare-pin", request.other_pin, "A time of the second file to compare with, as --pin")
      ->group(group);
  command
      .add_option("--lock", request.lock,
                  "Keep both at the same time, or after the same number of requests (requests); none: neither")
      ->check(one_of({"time", "requests", "none"}))
      ->type_name("BY")
      ->group(group);
  add_earlier_name(command, "--beside", request.other_side);
  add_earlier_name(command, "--beside-at", request.other_at);
  add_earlier_name(command, "--beside-heap", request.other_heap);
  add_earlier_name(command, "--beside-what-if", request.other_what_if);
  add_time_option(command, "--beside-pin", request.other_pin, "")->group("");
}

void add_open_options(CLI::App& command, OpenRequest& request, std::string& size, const OpenWindow& window) {
  command
      .add_option("--view", request.view,
                  window.views.empty() ? "The view in front" : "The view in front: " + window.views)
      ->type_name("VIEW");
  add_time_option(command, "--at", request.at,
                  "The time of a trace to show: start, end, peak, oom, 12.5s (after the first event) or #EVENT");
  add_time_option(command, "--from", request.from, "Select the time range from here to --at");
  add_time_option(command, "--pin", request.pin, "Compare --at with this time of the same trace");
  command.add_option("--heap", request.heap, "The heap to show, if a trace has several, e.g. GPU_1_bfc")
      ->type_name("NAME");
  command.add_flag("--all-devices", request.all_devices,
                   "Tables and graphs are about all devices, not just the one of the heap");
  command.add_option("--select", request.select, "Select a function or addresses, e.g. 0x7f3a14000000, in all views")
      ->type_name("NAME");
  command.add_option("--find", request.find, "Highlight matching blocks, e.g. 'size>1GiB age>10s', or an address")
      ->type_name("FILTER");
  command.add_option("--where", request.where, "Count only what matches, as in report --where")->type_name("FILTER");
  std::string colorings;
  for (const std::string& one : window.colorings) colorings += (colorings.empty() ? ": " : ", ") + one;
  CLI::Option* color = command.add_option("--color", request.color, "How to color the heap map" + colorings);
  color->type_name("COLORING");
  if (!window.colorings.empty()) color->check(one_of(window.colorings));
  command
      .add_option("--rows", request.rows,
                  "Lay out the heap map by address, each region in its own rows (region), or as one axis (strip);\n"
                  "by default what its regions and zoom need (auto)")
      ->check(one_of({"auto", "address", "region", "strip"}))
      ->type_name("LAYOUT");
  command.add_option("--addresses", request.addresses, "Show these addresses in the strip and in Address x time")
      ->type_name("BEGIN-END");
  command.add_option("--baseline", request.baseline, "A profile to compare with")->type_name("FILE");
  command
      .add_option("--what-if", request.what_if,
                  "Emulate a TPU workload with this change, as in tpu run; repeat for more")
      ->type_name("KEY=VALUE");
  add_pair_options(command, request);
  command.add_option("--theme", request.theme, "dark or light")->check(one_of({"dark", "light"}))->type_name("THEME");
  command.add_option("--scale", request.scale, "The size of text and spacing, 0.75 to 2")
      ->check(between(0.75, 2.0))
      ->type_name("FACTOR");
  command
      .add_option("--screenshot", request.screenshot,
                  "Write a picture of the window to this PNG and exit; no "
                  "display is needed")
      ->type_name("FILE");
  command.add_option("--size", size, "The size of the window or picture in pixels, e.g. 1600x1000")->type_name("SIZE");
}

#ifdef HBMSCOPE_RUN
// Prepares the hosts of live:HOST:PID. Returns the exit code on failure.
std::optional<int> prepare_hosts(const std::vector<std::string>& files, FarOptions options) {
  for (const std::string& file : files) {
    const auto far = file.starts_with("live:") ? view::far_job_from(file) : std::nullopt;
    if (!far) continue;
    options.host = far->host;
    if (const auto failed = prepare_host(options)) return failed;
  }
  return std::nullopt;
}
#endif

}  // namespace

void add_open(CommandList& commands) {
  struct Options {
    OpenRequest request;
    std::string size, max_memory = "4GiB";
#ifdef HBMSCOPE_RUN
    FarOptions far;
#endif
  };
  CLI::App& command =
      commands.add("open", "Open files or a running job in the window; `hbmscope FILE` does the same", R"(
  hbmscope snapshot.pickle --at oom                               the heap when a request failed
  hbmscope open live:4711                                         a job that hbmscope observes
  hbmscope open a.hbm --compare-with b.hbm --lock requests        two recordings side by side
  hbmscope open memory.prof --screenshot out.png                  a picture, without a display)");
  const auto options = std::make_shared<Options>();
  command
      .add_option("FILE", options->request.files,
                  "Profiles, snapshots, recordings, folders of them, or a running job: live:PID, live:HOST:PID or "
                  "tcp:HOST:PORT")
      ->type_name("");
  command.add_flag("--as-one-job", options->request.as_one_job,
                   "Show the files as one job: its ranks, or a log, a memory dump and a profile of one process");
  add_open_options(command, options->request, options->size, commands.open_window());
  constexpr const char* group = "A running job";
  add_max_memory_option(command, options->max_memory);
  command.add_flag("--from-now", options->request.live_from_now, "Skip what happened before now")->group(group);
  command.get_option("--max-memory")->group(group);
#ifdef HBMSCOPE_RUN
  command.add_flag("--yes", options->far.yes, "Copy hbmscope to HOST, if it is missing, without a prompt")
      ->group(group);
  command.add_option("--ssh", options->far.ssh, "The command to use instead of ssh; also HBMSCOPE_SSH")
      ->type_name("COMMAND")
      ->group(group);
#endif
  commands.set_action(command, [options, &commands] {
    options->request.live_memory_max = static_cast<std::uint64_t>(parse_bytes(options->max_memory).value_or(0));
#ifdef HBMSCOPE_RUN
    if (commands.open_window())
      if (const auto failed = prepare_hosts(options->request.files, options->far)) return *failed;
#endif
    return run_open(options->request, options->size, commands.open_window());
  });
}

void add_report(CommandList& commands) {
  CLI::App& command =
      commands.add("report", "Print what holds the memory: totals, then rows by function, line, device, ...", R"(
  hbmscope report memory.prof --where 'size>1GiB' --by line       large arrays, by line of code
  hbmscope report snapshot.pickle --at oom                        the heap when a request failed, and why it failed
  hbmscope report snapshot.pickle --at oom --blocks 20            the 20 largest blocks
  hbmscope report train.log                                       each failure in a job's output, whole or in part
  kubectl logs trainer-0 | hbmscope report -                      the same of what a command prints
  hbmscope report profiles/ --series                              one line per file
  hbmscope report memory.prof --json --fail-if 'bytes>40GiB'      for scripts and CI)");
  const auto options = std::make_shared<ReportOptions>();
  add_files(command, options->files, profile_or_trace_help);
  command
      .add_option("--by", options->by,
                  "Group rows by function, line, file, package, address, device, kind or label:KEY")
      ->capture_default_str()
      ->type_name("GROUP");
  add_count_option(command, "--top", options->top, "Print this many rows, 0: all");
  add_count_option(command, "--own", options->own, "Print this many lines of your code, 0: all");
  command.add_flag("--cum", options->cumulative, "Sort by cumulative bytes (with callees)");
  command.add_flag("--count", options->by_count, "Sort by count instead of bytes");
  add_answer_options(command, *options);
  add_time_option(command, "--from", options->from,
                  "Print what was allocated and freed between this time of a trace and --at, and what survived");
  const std::string series_help = "Print one line per file (of traces: peaks and curves) instead of adding files up";
  command.add_flag("--series", series_help);
  const std::string follow_help = "Print each failure of a log when the log has it, while the log grows";
  command.add_flag("--follow", follow_help);
  add_fail_if_option(command, options->gate,
                     ", e.g. 'bytes>40GiB', 'device:0 bytes>10GiB' or, of a trace, 'margin<1GiB'");
  add_json_option(command, options->json);
  add_brief_option(command, options->brief);
  add_block_options(command, options->blocks);
  add_view_options(command, options->view);
  commands.set_action(command, [options, &command] {
    options->used = used_options_of(command);
    return run_report(*options);
  });
}

void add_explain(CommandList& commands) {
  CLI::App& command = commands.add("explain", "Say why a job ran out of memory, what held it, and what would help", R"(
  hbmscope explain train.log                                      from a job's output
  hbmscope explain snapshot.pickle                                from a snapshot or a recording
  hbmscope explain job/                                           from all that a job left behind
  kubectl logs trainer-0 | hbmscope explain -                     from what a command prints
  hbmscope explain job.hbm --html > why.html                      as a page to send to somebody)");
  const auto options = std::make_shared<ExplainOptions>();
  add_files(command, options->files,
            "Logs, memory dumps, snapshots, recordings, or folders of them; several are joined. - is standard input");
  add_fail_if_option(command, options->gate, ", e.g. 'failures>0' or 'verdict:leak'");
  command.add_option("--failure", options->failure, "Explain this one in full: first, last, or its number from 1")
      ->type_name("WHICH")
      ->capture_default_str();
  add_json_option(command, options->json);
  add_brief_option(command, options->brief);
  command.add_flag("--html", options->html, "Print one page of HTML, without scripts and links")->excludes("--json");
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options] { return run_explain(*options); });
}

void add_diff(CommandList& commands) {
  CLI::App& command =
      commands.add("diff", "Compare two files, or two times of one trace: what changed, now - baseline", R"(
  hbmscope diff monday.prof friday.prof                           what grew, and where
  hbmscope diff profiles/ --fail-if 'growth>5%'                   first against last; exit code 1 if it grew
  hbmscope diff snapshot.pickle --from start --at peak            what changed up to the peak
  hbmscope diff old.hbm new.hbm --at oom --same requests          two runs after the same number of requests)");
  const auto options = std::make_shared<DiffOptions>();
  add_files(command, options->files, "BASELINE NOW, or a folder: its first and its last file");
  add_time_option(command, "--from", options->from, "The time of the baseline; see --at");
  command
      .add_option(
          "--same", options->same,
          "Of two traces: take the baseline at the same time after its start (time), or after the same number of "
          "requests, as now; with --from, now as the baseline")
      ->check(one_of({"time", "requests"}))
      ->type_name("BY");
  command
      .add_option("--heap", options->heap,
                  "Of two traces: the heap to compare; default: the one that failed last, or has the highest peak")
      ->type_name("NAME");
  command.add_option("--match", options->match, "Match stacks by function (lines may have moved) or by line")
      ->type_name("BY")
      ->capture_default_str();
  add_count_option(command, "--top", options->top, "Print this many stacks, 0: all");
  add_count_option(command, "--frames", options->frames, "Print this many frames of your code per stack, 0: all");
  add_fail_if_option(command, options->gate, ", e.g. 'growth>5%' or 'device:0 growth_bytes>1GiB'");
  add_json_option(command, options->json);
  add_brief_option(command, options->brief);
  add_view_options(command, options->view);
  commands.set_action(command, [options, &command] {
    options->used = used_options_of(command);
    return run_diff(*options);
  });
}

void add_check(CommandList& commands) {
  CLI::App& command = commands.add(
      "check", "Check that a file is complete: exit code 1 if not; lists problems in the file and how to fix them", R"(
  hbmscope check snapshot.pickle                                  one file
  hbmscope check profiles/                                        every file of a folder
  hbmscope check profiles/ --json                                 for scripts)");
  const auto options = std::make_shared<CheckOptions>();
  add_files(command, options->files, "Files or folders");
  add_json_option(command, options->json);
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options] { return run_check(*options); });
}

void add_convert(CommandList& commands) {
  CLI::App& command =
      commands.add("convert", "Save a trace as a recording (.hbm), which is much smaller and opens faster", R"(
  hbmscope convert snapshot.pickle -o snapshot.hbm                30x smaller, or more, with the same answers
  hbmscope convert snapshot.pickle -o share.hbm --strip-paths     to share: without folder names)");
  const auto options = std::make_shared<ConvertOptions>();
  command.add_option("FILE", options->file, "A PyTorch memory snapshot, a profiler trace, an RMM log, or a recording")
      ->required()
      ->type_name("");
  command.add_option("-o,--output", options->output, "The recording to write, usually *.hbm")
      ->required()
      ->type_name("FILE");
  command.add_flag("--strip-paths", options->strip_paths,
                   "Remove folder names everywhere: from files, modules, job facts and texts");
  add_max_size_option(command, options->max_size);
  commands.set_action(command, [options] { return run_convert(*options); });
}

void add_export(CommandList& commands) {
  CLI::App& command =
      commands.add("export", "Write a file for other programs: HTML, Perfetto, CSV, Parquet, pprof, ...", R"(
  hbmscope export memory.prof --to html -o report.html            a page that opens in any browser
  hbmscope export job.hbm --to html --viewer -o job.html          the window itself as a page, with the file in it
  hbmscope export snapshot.pickle --to perfetto -o trace.json     for ui.perfetto.dev
  hbmscope export snapshot.pickle --to csv --what events          one row per allocation and free)");
  const auto options = std::make_shared<ExportOptions>();
  add_files(command, options->files, profile_or_trace_help);
  command
      .add_option(
          "--to", options->to,
          "The format: pprof, folded, svg, csv, json or html; of a trace also perfetto, parquet, prometheus or otlp")
      ->required()
      ->transform(CLI::ignore_case)
      ->type_name("FORMAT");
  command.add_option("-o,--output", options->output, "The file to write; default: standard output")->type_name("FILE");
  command.add_flag("--viewer", options->viewer,
                   "For html: the window itself as one page, with the files in it, instead of a report");
  command
      .add_option("--what", options->what,
                  "Of a trace as CSV, JSON or Parquet: one row per event (events) or per block (blocks), up to --at; "
                  "default for CSV: the top table, for JSON: the report")
      ->type_name("TABLE");
  command
      .add_option("--step", options->step,
                  "For perfetto: merge counter values that differ by less, e.g. 1MiB; default: 1/2048 of the peak")
      ->type_name("SIZE");
  command.add_option("--python", options->python, "For parquet: the Python that has pyarrow")
      ->capture_default_str()
      ->type_name("PROGRAM");
  add_view_options(command, options->view);
  commands.set_action(command, [options, &command] {
    options->used = used_options_of(command);
    if (options->output == "-") options->output.clear();
    return run_export(*options);
  });
}

}  // namespace hbmscope::cli
