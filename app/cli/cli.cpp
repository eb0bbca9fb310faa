#include "app/cli/cli.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "allocator/catalog/catalog.h"
#include "analysis/units/format.h"
#include "app/cli/load.h"
#include "app/cli/moment_option.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#ifdef HBMSCOPE_RUN
#include "app/cli/attach_options.h"
#include "app/cli/demo.h"
#include "app/cli/device_size.h"
#include "app/cli/far_bundle.h"
#include "app/cli/far_start.h"
#include "app/cli/relay.h"
#include "app/cli/run.h"
#include "app/cli/watch.h"
#endif
#include "app/cli/terminal.h"
#include "app/cli/tpu.h"

namespace hbmscope::cli {
namespace {

constexpr const char* examples = R"(
Examples:
  hbmscope memory.prof                                 open it in the window
  hbmscope report memory.prof                          what holds the memory
  hbmscope report memory.prof --by device --json       for scripts
  hbmscope report memory.prof --where 'size>1GiB -kind:executable' --by line
  hbmscope diff monday.prof friday.prof                what grew, and where
  hbmscope diff profiles/ --fail-if 'growth>5%'        first against last of a folder; exit code 1 if it grew
  hbmscope report profiles/ --series                   totals of many profiles
  hbmscope report snapshot.pickle --at oom             a PyTorch snapshot: the heap as the request failed
  hbmscope report snapshot.pickle --at oom --blocks 20 --where 'size>1GiB age>10s'   block by block
  hbmscope diff snapshot.pickle --from start --at peak what came in between
  hbmscope demo                                        a training step in an emulated pool, live
  hbmscope run -- ./train                              shows its device memory live and records it
  hbmscope attach gpu7:4711                            a job of another machine, over your own ssh; hbmscope ps gpu7
  hbmscope convert snapshot.pickle -o snapshot.hbm     a thirtieth of the bytes, or less, the same answers
  hbmscope export snapshot.pickle --to perfetto -o s.json   for ui.perfetto.dev
  hbmscope replay requests.jsonl.zst --version spatial_v1   which addresses JAX's allocator gives, and what fails
  hbmscope tpu layout --generation v5e --dtype f32 --shape 1000x1   what padding makes of an array
  hbmscope tpu fit module.hlo.pb --generation v5e       does the compiled program fit?
  hbmscope tpu run samples/tpu/server.json --what-if defragmentation=off   a workload on an emulated TPU
  hbmscope export memory.prof --to html -o report.html a page that opens anywhere
  hbmscope open memory.prof --screenshot out.png       a picture of the window, with no display

Get a profile from JAX: jax.profiler.save_device_memory_profile("memory.prof")
From PyTorch: torch.cuda.memory._record_memory_history(), then torch.cuda.memory._dump_snapshot("snapshot.pickle")
Exit codes: 0 done, 1 a --fail-if held or replay --check differs, 2 wrong usage, 3 a file can't be read or written
)";

void add_files(CLI::App& command, std::vector<std::string>& files, const char* help) {
  command.add_option("FILE", files, help)->required();
}

void add_report(CLI::App& app, ReportOptions& options) {
  CLI::App& command =
      *app.add_subcommand("report", "What holds the memory: totals, then rows by function, line, device, ...");
  add_files(command, options.files,
            "Profiles, or traces (snapshots, logs, recordings), or folders of them; several are added up, traces as "
            "the ranks "
            "of one job; - is standard input");
  command.add_option("--top", options.top, "How many rows, 0: all")->check(find_count_fault)->capture_default_str();
  command.add_option("--own", options.own, "How many lines of your own code, 0: all")
      ->check(find_count_fault)
      ->capture_default_str();
  command.add_option("--by", options.by, "Rows by function, line, file, package, address, device, kind or label:KEY")
      ->capture_default_str();
  command.add_flag("--cum", options.cumulative, "Sort by cumulative bytes");
  command.add_flag("--count", options.by_count, "Sort by count instead of bytes");
  command.add_flag("--tree", options.tree, "The call tree from the outermost frame down, instead of rows");
  command.add_flag("--bottom-up", options.bottom_up, "The tree from the innermost frame up");
  command.add_option("--peek", options.peek, "Callers and callees of the functions that match this regular expression");
  command.add_flag("--metrics", options.metrics,
                   "Of a trace also, for each heap: free gaps, sizes, ages, lifetimes, churn, high-water moments");
  add_moment_option(command, "--from", options.from,
                    "Of a trace: what was allocated, freed and survived between this moment and --at");
  command.add_flag("--series", options.series,
                   "A line of totals for each file, of traces peaks and curves, instead of adding them up");
  command.add_option("--fail-if", options.fail_if,
                     "Exit with 1 if this holds, e.g. 'bytes>40GiB' or 'device:0 bytes>10GiB'");
  command.add_flag("--json", options.json, "Print JSON (described in app/cli/README.md)");
  add_block_options(command, options.blocks);
  add_view_options(command, options.view);
}

void add_diff(CLI::App& app, DiffOptions& options) {
  CLI::App& command = *app.add_subcommand("diff", "What changed between two profiles, as now - baseline");
  add_files(command, options.files, "BASELINE NOW, or a folder: its first and last profile");
  add_moment_option(command, "--from", options.from, "The moment of the baseline, of a trace; see --at");
  command
      .add_option(
          "--same", options.same,
          "Of two traces: the baseline as long after its start as now (time), or after as many requests; with --from "
          "now as the baseline")
      ->check(CLI::IsMember({"time", "requests"}));
  command.add_option("--heap", options.heap,
                     "Of two traces: the heap to compare; default: which failed last, or has the highest peak");
  command.add_option("--match", options.match, "Match stacks by function (lines may have moved) or by line")
      ->capture_default_str();
  command.add_option("--top", options.top, "How many stacks, 0: all")->check(find_count_fault)->capture_default_str();
  command.add_option("--frames", options.frames, "How many of your own frames of each stack, 0: all")
      ->check(find_count_fault)
      ->capture_default_str();
  command.add_option("--fail-if", options.fail_if,
                     "Exit with 1 if this holds, e.g. 'growth>5%' or 'device:0 growth_bytes>1GiB'");
  command.add_flag("--json", options.json, "Print JSON (described in app/cli/README.md)");
  add_view_options(command, options.view);
}

void add_check(CLI::App& app, CheckOptions& options) {
  CLI::App& command = *app.add_subcommand("check", "Is the file whole? Import statistics with what to do about each");
  add_files(command, options.files, "Files or folders");
  command.add_flag("--json", options.json, "Print JSON");
  add_max_size_option(command, options.max_size);
}

void add_export(CLI::App& app, ExportOptions& options) {
  CLI::App& command = *app.add_subcommand("export", "Write it for other programs");
  add_files(command, options.files, "Profiles, or traces, or folders of them; several are added up");
  ignore_case(
      command
          .add_option("--to", options.to, "pprof, folded, svg, csv, json or html; of a trace also perfetto or parquet")
          ->required());
  command.add_option("--what", options.what,
                     "Of a trace as CSV, JSON or Parquet, up to --at: events or blocks, a row each; default for CSV: "
                     "the top table, for JSON: the report");
  command.add_option(
      "--step", options.step,
      "For perfetto: merge counter points that differ by less, e.g. 1MiB; default: a 2048th of the peak");
  command.add_option("--python", options.python, "For parquet: the Python that has pyarrow")->capture_default_str();
  command.add_option("-o,--output", options.output, "File to write; default: standard output");
  add_view_options(command, options.view);
}

void add_convert(CLI::App& app, ConvertOptions& options) {
  CLI::App& command =
      *app.add_subcommand("convert", "Save a trace as a recording: smaller, and read many times faster");
  command
      .add_option("FILE", options.file,
                  "A PyTorch memory snapshot or profiler trace, an RMM log, or a recording to be written anew")
      ->required();
  command.add_option("-o,--output", options.output, "The recording to write, by custom *.hbm")->required();
  command.add_flag("--strip-paths", options.strip_paths,
                   "For sharing: without the folders of paths: of files, modules, the job's facts, and in texts");
  add_max_size_option(command, options.max_size);
}

void add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "replay", "Play recorded requests into an allocator that decides as an original does: JAX's, PyTorch's, ...");
  command
      .add_option("FILE", options.file,
                  "A stream of requests: JSON lines, plain or in zstd, with the allocator's configuration in the first "
                  "(app/cli/README.md has the format); or a trace that report opens; - is standard input")
      ->required();
  command.add_option("--allocator", options.allocator,
                     allocator::text_from_allocators() + "; default: the one that JAX's settings choose, xla_gpu");
  command.add_option("--version", options.version,
                     "Of JAX's allocators: classic, classic_align, spatial_v1, spatial_v2, spatial_v3 (unverified); "
                     "default: by the configuration, classic_align or spatial_v1");
  command.add_option("--device-bytes", options.device_bytes,
                     "All memory of the device, e.g. 80GiB; of a stream of requests it replaces its configuration");

  command
      .add_option("--set", options.settings,
                  "A setting of JAX, e.g. XLA_CLIENT_MEM_FRACTION=.9 (allocator/jax/README.md lists them), or of "
                  "PyTorch: PYTORCH_CUDA_ALLOC_CONF")
      ->allow_extra_args(false);
  command
      .add_option(
          "--device", options.device,
          "A GPU, in place of --device-bytes: h100-80, a100-40, mi300x, ... (allocator/devices/README.md); or, of "
          "a trace, the device's number; default: with the most requests")
      ->check(find_device_fault);
  command.add_flag("--check", options.check,
                   "Compare every recorded answer with the allocator's own; exit with 1 at the first difference");
  command.add_flag("--time", options.time, "Also measure an operation: the best of three passes");
  command.add_flag("--with-hang", options.with_hang,
                   "Report the hang that versions before 2026-08-14 have when the driver is full and a small request "
                   "arrives");
  command.add_option("-o,--output", options.output, "Keep the replay as a recording, which report and the window open");
  command.add_option("--oom-log", options.oom_log,
                     "Write what XLA logs for the first ten failures, in the words of the version, to this file");
  command.add_option("--memory-dump", options.memory_dump,
                     "Write the MemoryDump protobuf of the first failure to this file, as TF_BFC_MEMORY_DUMP does");
  command.add_option("--traceme", options.trace_events,
                     "Write the trace event of each block, as XLA's profiler gets it, to this file, a line each");
  command.add_option("--allocator-name", options.allocator_name,
                     "As these three, and the recording, name it; default: GPU_0_bfc, or GPU_0_ and the allocator");
  command.add_flag("--json", options.json, "Print JSON (described in app/cli/README.md)");
  add_max_size_option(command, options.max_size);
}

#ifdef HBMSCOPE_RUN
void add_watch(CLI::App& app, WatchOptions& options) {
  CLI::App& command = *app.add_subcommand("watch", "A running job, one line a second");
  command
      .add_option("JOB", options.job,
                  "The number of an observed job, a part of its command, or the number of its hbmscope; HOST:NUMBER; "
                  "tcp:HOST:PORT")
      ->required();
  add_seconds_option(command, "--for", options.seconds,
                     "How long: 60s, 5m; a number alone is seconds; 0: until it ends");
  add_seconds_option(command, "--every", options.interval, "How long between lines: 1s, 500ms", {0.05, 3600})
      ->capture_default_str();
  command.add_flag("--json", options.json, "An object a line");
  add_max_memory_option(command, options.max_memory);
  command.add_flag("--from-now", options.from_now,
                   "What is there now and what comes; what happened before is not fetched");
  command.add_flag(
      "--totals", options.totals,
      "Only what the driver (NVML) tells of the process: nothing is loaded into it, and nobody need observe it");
  add_far_options(command, options.far);
}

void add_demo_options(CLI::App& command, DemoOptions& options) {
  command.add_option("--workload", options.workload, "Which: --list names them")->capture_default_str();
  command.add_option("--set", options.settings, "A variable as JAX reads it: XLA_CLIENT_MEM_FRACTION=.9");
  command.add_option("--allocator", options.allocator,
                     allocator::text_from_allocators() + "; default: the one that JAX's variables choose");
  command.add_option("--version", options.version, "Of XLA's allocator: classic, classic_align, spatial_v1, ...");
  command
      .add_option("--device-bytes,--device", options.device_bytes,
                  "What the device has in all, or a GPU: h100-80, a100-40, mi300x, ... (allocator/devices/README.md)")
      ->capture_default_str();
  command.add_option("--speed", options.speed, "1: some hundred events a second")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
  command.add_option("--seed", options.seed, "The same number makes the same requests")->capture_default_str();
}

void add_demo(CLI::App& app, DemoRequest& request, DemoOptions& job) {
  CLI::App& command = *app.add_subcommand("demo", "A workload on an emulated device, live in the window or without");
  add_demo_options(command, request.job);
  command.add_option("--beside", request.beside,
                     "A second program beside it, with this variable set: XLA_PYTHON_CLIENT_ALLOCATOR=platform");
  command.add_flag("--headless", request.headless, "No window: run for a while, then print what was there at the peak");
  add_seconds_option(command, "--for", request.seconds,
                     "How long to run without a window: 10s, 5m; a number alone is seconds; 0: until it is ended")
      ->capture_default_str();
  command.add_option("--record", request.record, "Keep its recording in this file");
  add_listen_options(command, request.listen);
  command.add_flag("--json", request.json, "Print the summary as JSON, as report does; without a window");
  command.add_flag("--list", request.list, "Print the workloads");
  // What demo starts and watches.
  add_demo_options(*app.add_subcommand("demo-job", "")->group(""), job);
}
#endif

#ifdef HBMSCOPE_RUN
void add_relay(CLI::App& app, RelayOptions& options) {
  CLI::App& command = *app.add_subcommand("relay", "")->group("");
  command.add_option("JOB", options.job)->required();
  command.add_option("--output", options.output);
  command.add_option("--output-from", options.output_from);
  command.add_option("--errors-from", options.errors_from);
}
#endif

#ifdef HBMSCOPE_RUN
// What live:HOST:PID needs there.
std::optional<int> prepare_hosts(const std::vector<std::string>& files, FarOptions options) {
  for (const std::string& file : files) {
    const auto far = file.starts_with("live:") ? view::far_job_from(file) : std::nullopt;
    if (!far) continue;
    options.host = far->host;
    if (const auto failed = prepare_host(options)) return failed;
  }
  return std::nullopt;
}

// run HOST -- COMMAND, as attach and ps take their host: here a command would be mistaken for one.
std::optional<int> refuse_host_before_dashes(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (words.empty() || words.front() != "run" || dashes == words.end() || dashes - words.begin() < 2)
    return std::nullopt;
  const std::string& host = *(dashes - 1);
  if (host.starts_with('-')) return std::nullopt;
  fail({fmt::format("run takes its command after the two dashes, and {} stands before them", host),
        fmt::format("On another machine: hbmscope run --on {} -- COMMAND.", host),
        {},
        {},
        false});
  return exit_usage;
}

// The other end of far_command().
int run_from_afar(std::vector<std::string> words) {
  words.erase(words.begin());
  for (std::string& word : words) {
    auto meant = view::decoded(word);
    if (!meant) return fail({"a word from afar makes no sense: " + word, {}, {}, {}, false});
    word = std::move(*meant);
  }
  const auto run_words = [](const std::vector<std::string>& wanted) {
    std::vector<std::string> kept{"hbmscope"};
    kept.insert(kept.end(), wanted.begin(), wanted.end());
    std::vector<char*> arguments;
    for (std::string& word : kept) arguments.push_back(word.data());
    return run(static_cast<int>(arguments.size()), arguments.data(), {});
  };
  if (words.empty() || words.front() != "far-start") return run_words(words);
  words.erase(words.begin());
  return run_far_start(words, run_words);
}
#endif

}  // namespace

int run(int argc, char** argv, const OpenWindow& open_window) {
  CLI::App app(
      "hbmscope shows every byte of device memory: what holds it, what changed, and where in the code it came from.",
      "hbmscope");
  app.footer(examples);
  app.set_version_flag("--version", "hbmscope " HBMSCOPE_PROGRAM_VERSION);
  app.require_subcommand(0, 1);
  ReportOptions report;
  DiffOptions diff;
  CheckOptions check;
  ExportOptions export_options;
  ConvertOptions convert;
  ReplayOptions replay;
  OpenRequest open;
  std::string size;
  add_report(app, report);
  add_diff(app, diff);
  add_check(app, check);
  add_export(app, export_options);
  add_convert(app, convert);
  add_replay(app, replay);
  TpuOptions tpu;
  CLI::App& tpu_command = add_tpu(app, tpu);
#ifdef HBMSCOPE_RUN
  RunOptions run_options;
  add_run(app, run_options);
  WatchOptions watch;
  add_watch(app, watch);
  AttachCommands attach;
  add_attach_commands(app, attach);
  DemoRequest demo;
  DemoOptions demo_job;
  add_demo(app, demo, demo_job);
  RelayOptions relay;
  add_relay(app, relay);
#endif
  CLI::App& open_command = *app.add_subcommand("open", "Open files in the window");
  open_command.add_option(
      "FILE", open.files,
      "Profiles, snapshots, recordings, folders of them, or a running job: live:PID, live:HOST:PID, "
      "tcp:HOST:PORT");
  add_open_options(open_command, open, size);
  std::string max_memory = "4GiB";
  add_max_memory_option(open_command, max_memory);
  open_command.add_flag("--from-now", open.live_from_now,
                        "Of a running job: what is there now and what comes; what happened before is not fetched");
#ifdef HBMSCOPE_RUN
  FarOptions open_far;
  open_command.add_flag("--yes", open_far.yes, "Of live:HOST:PID: copy what is needed there without asking");
  open_command.add_option("--ssh", open_far.ssh, "Of live:HOST:PID: instead of ssh; as HBMSCOPE_SSH");
#endif
  // `hbmscope memory.prof` opens it, as every viewer does; a first word that is no command is a file.
  std::vector<std::string> words(argv + 1, argv + argc);
#ifdef HBMSCOPE_RUN
  if (!words.empty() && words.front() == "far") return run_from_afar(words);
#endif
  if (!words.empty() && !words.front().starts_with('-')) {
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    const bool is_command = std::any_of(commands.begin(), commands.end(),
                                        [&](const CLI::App* c) { return c->get_name() == words.front(); });
    std::error_code error;
    const bool is_name = words.front().find_first_of("./") == std::string::npos;
    if (!is_command && is_name && words.front() != "-" && !std::filesystem::exists(words.front(), error)) {
      fail({fmt::format("there is no command '{}', and no such file", words.front()),
            "hbmscope --help lists the commands.",
            {},
            {},
            false});
      return exit_usage;
    }
    if (!is_command) words.insert(words.begin(), "open");
  }
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ExtrasError& error) {
#ifdef HBMSCOPE_RUN
    if (const auto refused = refuse_host_before_dashes({argv + 1, argv + argc})) return *refused;
#endif
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  report.given.take_from(*app.get_subcommand("report"));
  diff.given.take_from(*app.get_subcommand("diff"));
  open.live_memory_max = static_cast<std::uint64_t>(parse_bytes(max_memory).value_or(0));
  export_options.given.take_from(*app.get_subcommand("export"));
  replay.given.take_from(*app.get_subcommand("replay"));
  try {
    if (app.got_subcommand("report")) return run_report(report);
    if (app.got_subcommand("diff")) return run_diff(diff);
    if (app.got_subcommand("check")) return run_check(check);
    if (app.got_subcommand("export")) return run_export(export_options);
    if (app.got_subcommand("convert")) return run_convert(convert);
    if (app.got_subcommand("replay")) return run_replay(replay);
    if (app.got_subcommand(&tpu_command)) return run_tpu(tpu_command, tpu, open_window);
#ifdef HBMSCOPE_RUN
    if (app.got_subcommand("run")) {
      run_options.words = words_for_there(*app.get_subcommand("run"));
      return run_job(run_options, open_window != nullptr);
    }
    if (app.got_subcommand("watch")) return run_watch(watch);
    if (app.got_subcommand("attach")) {
      attach.attach.words = words_for_there(*app.get_subcommand("attach"));
      return run_attach(attach.attach, open_window != nullptr);
    }
    if (app.got_subcommand("detach")) return run_detach(attach.detach, attach.detach_far);
    if (app.got_subcommand("relay")) return run_relay(relay);
    if (app.got_subcommand("ps")) return run_ps(attach.ps);
    if (app.got_subcommand("demo")) return run_demo(demo, open_window);
    if (app.got_subcommand("demo-job")) return run_demo_job(demo_job);
    if (const auto failed = open_window ? prepare_hosts(open.files, open_far) : std::nullopt) return *failed;
#endif
    return run_open(open, size, open_window);
  } catch (const std::bad_alloc&) {
    return fail({"there is not enough memory for this",
                 "Close other programs, or open it on a larger machine; a damaged file may also ask for too much.",
                 {},
                 {},
                 false});
  }
}

}  // namespace hbmscope::cli
