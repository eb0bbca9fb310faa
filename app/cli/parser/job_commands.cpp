// Commands for running jobs, Linux only: run, attach, detach, watch, ps, demo.
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "allocator/reference/catalog/catalog.h"
#include "app/cli/dry_run/emulated_machine.h"
#include "app/cli/jobs/attach.h"
#include "app/cli/jobs/demo.h"
#include "app/cli/jobs/ps.h"
#include "app/cli/jobs/run.h"
#include "app/cli/jobs/watch.h"
#include "app/cli/options.h"
#include "app/cli/parser/commands.h"
#include "app/cli/remote/relay.h"

namespace hbmscope::cli {
namespace {

constexpr const char* no_window_help = "Only record; without a display that is the default";

// The given options of a command, for the same command in another process.
std::vector<std::string> given_words(const CLI::App& command, std::initializer_list<std::string_view> without) {
  std::vector<std::string> words{command.get_name()};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_positional() || std::count(without.begin(), without.end(), name) > 0)
      continue;
    for (const std::string& value : option->results()) {
      words.push_back(name);
      if (option->get_expected_max() > 0) words.push_back(value);
    }
  }
  return words;
}

// On another machine, without the options for this machine.
std::vector<std::string> words_for_there(const CLI::App& command) {
  return given_words(command, {"--on", "--yes", "--ssh", "--record", "--no-window"});
}

void add_demo_options(CLI::App& command, DemoOptions& options) {
  command.add_option("--workload", options.workload, "The workload; --list names them")
      ->capture_default_str()
      ->type_name("NAME");
  command.add_option("--set", options.settings, "A setting of JAX, e.g. XLA_CLIENT_MEM_FRACTION=.9; repeat for more")
      ->type_name("NAME=VALUE");
  command
      .add_option("--allocator", options.allocator,
                  "The allocator: " + allocator::text_from_allocators() + "; default: as JAX's settings choose")
      ->type_name("NAME");
  command
      .add_option("--version", options.version,
                  "The version of XLA's allocator: classic, classic_align, spatial_v1, ...")
      ->type_name("NAME");
  command
      .add_option(
          "--device-bytes,--device", options.device_bytes,
          "The memory of the device, or a GPU: h100-80, a100-40, mi300x, ... (allocator/emulated/gpus/README.md)")
      ->capture_default_str()
      ->type_name("SIZE");
  command.add_option("--speed", options.speed, "The speed; 1 is about 600 events a second")
      ->capture_default_str()
      ->check(between(0.01, 1e6))
      ->type_name("FACTOR");
  command.add_option("--seed", options.seed, "The same seed makes the same requests")
      ->capture_default_str()
      ->type_name("N");
}

void add_emulation_options(CLI::App& command, RunOptions& options) {
  constexpr const char* group = "Dry run, on an emulated GPU or TPU slice";
  CLI::Option* emulate =
      command
          .add_option("--emulate", options.emulate,
                      "Run on emulated devices: h100, h100:8, or a TPU slice: v5e:2x4. Frameworks, their "
                      "allocators and compilers are real, kernels do nothing. Prints whether the job fits; hbmscope "
                      "emulate lists devices")
          ->type_name("DEVICE")
          ->check(
              [](const std::string& name) { return name.empty() ? "a name of a device is missing" : std::string(); })
          ->group(group);
  command.add_option("--device-bytes", options.device_bytes, "The memory of each emulated device, e.g. 40GiB")
      ->type_name("SIZE")
      ->needs(emulate)
      ->group(group);
  command
      .add_option("--values", options.values,
                  "What values are like that only kernels would know. Default: an index is any index, a loss falls "
                  "slowly. worst: all tokens go to the first experts; zeros: all are 0, also those that could be known")
      ->type_name("KIND")
      ->check(CLI::IsMember({"worst", "zeros"}))
      ->needs(emulate)
      ->group(group);
  command
      .add_flag("--quick", options.is_quick,
                "TPUs: compile at a lower level of optimization, which is several times faster; the verdict says so")
      ->needs(emulate)
      ->group(group);
  command
      .add_option(
          "--runs-ahead", options.runs_ahead,
          "TPUs: assume up to N executions in flight, which keep arrays alive after the program frees them; raises "
          "the peak, not what fits")
      ->check(between(0, 1024))
      ->type_name("N")
      ->needs(emulate)
      ->group(group);
  command
      .add_option(
          "--sweep", options.sweep,
          "Run once for each value, and print a table: --sweep batch=4,8,16 -- python train.py --batch {batch}; "
          "repeat for more. --emulate a100-40,h100 tries several devices")
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false)
      ->needs(emulate)
      ->group(group);
  command
      .add_option("--largest", options.largest,
                  "Find the largest value that fits, of --sweep NAME=1..64 or of a list that needs more and more")
      ->type_name("NAME")
      ->needs(emulate)
      ->group(group);
  add_fail_if_option(command, options.gate, " of a dry run that ended well, e.g. 'margin<1GiB' or 'peak>60GiB'")
      ->needs(emulate)
      ->group(group);
  command.get_option("--junit")->group(group);
  command
      .add_flag("--json", options.json,
                "Print the verdict as JSON; the job's standard output goes to standard error. The keys are in the "
                "documentation (app/cli/JSON.md)")
      ->needs(emulate)
      ->group(group);
  add_brief_option(command, options.brief)->needs(emulate)->group(group);
}

}  // namespace

void add_emulate(CommandList& commands) {
  CLI::App& command = commands.add("emulate", "List the devices that run --emulate can emulate", R"(
  hbmscope emulate                                                the devices
  hbmscope run --emulate h100 -- python train.py                  will it fit on an H100?
  hbmscope run --emulate h100:8 -- torchrun --nproc-per-node 8 train.py
  hbmscope run --emulate v5e:2x4 -- python train.py               on a slice of eight TPU chips?)");
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--list")->description("List them, which is also the default");
  add_json_option(command, *json);
  commands.set_action(command, [json] { return run_emulate(*json); });
}

void add_run(CommandList& commands) {
  CLI::App& command = commands.add("run", "Run a command, record its device memory and show it live", R"(
  hbmscope run -- python train.py                                 record and watch
  hbmscope run --record step.hbm --no-window -- python train.py   only record
  hbmscope run --emulate h100 -- python train.py                  will it fit? on an emulated GPU
  hbmscope run --emulate v5e:2x4 -- python train.py               on an emulated TPU slice
  hbmscope run --on gpu7 -- python train.py                       on another machine, over your own ssh)");
  const auto options = std::make_shared<RunOptions>();
  command.add_option("--record", options->record, "The recording to write; default: SCRIPT.PID.hbm in this folder")
      ->type_name("FILE");
  command.add_flag("--no-window", options->no_window, no_window_help);
  command.add_flag("--no-follow", options->no_follow, "Watch only the command itself, not the processes it starts");
  command
      .add_option("--wait", options->wait,
                  "Until when to watch: until all processes have ended that the command has started, or only until the "
                  "command itself has")
      ->check(one_of({"all", "command"}))
      ->type_name("WHOM")
      ->capture_default_str();
  command
      .add_option("--backend", options->back_end,
                  "How calls of the CUDA driver are seen: interpose, which leaves CUPTI to the job, or cupti")
      ->check(one_of({"interpose", "cupti"}))
      ->type_name("BACKEND")
      ->capture_default_str();
  command
      .add_option("--stacks", options->stacks,
                  "Which stacks to record: python (Python frames with the native frames below them, native frames in "
                  "other processes), native, or none")
      ->check(one_of({"python", "native", "none"}))
      ->type_name("KIND")
      ->capture_default_str();
  command
      .add_option("--stack-depth", options->stack_depth,
                  "Record at most this many frames (1 to 128); outer callers are cut off")
      ->check(between(1, wire::stack_depth_max))
      ->capture_default_str()
      ->type_name("N");
  add_emulation_options(command, *options);
  add_flight_options(command, options->flight);
  command.add_option("--digest", options->digest, "Add what the job held to this store at its end, as digest does")
      ->type_name("STORE");
  command
      .add_option("--digest-run", options->digest_run,
                  "Its run there, the same for all ranks; default: the Slurm job, else the recording's name")
      ->type_name("NAME");
  add_listen_options(command, options->listen);
  add_far_options(command, options->far);
  command.add_option("COMMAND", options->command, "The command, after two dashes: -- python train.py")
      ->required()
      ->type_name("");
  commands.set_action(command, [options, &command, &commands] {
    options->words = words_for_there(command);
    options->run_words =
        given_words(command, {"--emulate", "--sweep", "--largest", "--fail-if", "--json", "--record", "--no-window"});
    return run_job(*options, static_cast<bool>(commands.open_window()));
  });
}

void add_attach(CommandList& commands) {
  CLI::App& command = commands.add("attach", "Watch a job that is already running; it keeps running afterwards", R"(
  hbmscope attach 4711                                            by process number; hbmscope ps lists jobs
  hbmscope attach train.py --all --for 5m                         all ranks of a job, for five minutes
  hbmscope attach gpu7:4711                                       on another machine, over your own ssh)");
  const auto options = std::make_shared<AttachOptions>();
  command
      .add_option("JOB", options->job,
                  "A process number, a part of its command, or HOST:NUMBER; hbmscope ps lists jobs")
      ->required()
      ->type_name("");
  command.add_flag("--all", options->is_all,
                   "Attach to all jobs that match, or with a number to all with the same command: the ranks of a job");
  command.add_option("--record", options->record, "The recording to write; default: NAME.PID.hbm in this folder")
      ->type_name("FILE");
  add_seconds_option(command, "--for", options->seconds,
                     "How long to stay attached: 60s, 5m, 1.5h; default: until the job ends or you press Ctrl+C");
  auto* no_cupti =
      command.add_flag("--no-cupti", options->no_cupti,
                       "Leave CUPTI to the job's own profilers; calls of the CUDA driver are then not seen");
  command
      .add_flag("--totals", options->totals,
                "Load nothing into the job; only record its total memory, once a second, from the driver (NVML)")
      ->excludes(no_cupti);
  command.add_flag("--no-window", options->no_window, no_window_help);
  add_flight_options(command, options->flight);
  add_listen_options(command, options->listen);
  add_far_options(command, options->far);
  commands.set_action(command, [options, &command, &commands] {
    options->words = words_for_there(command);
    return run_attach(*options, static_cast<bool>(commands.open_window()));
  });
}

void add_detach(CommandList& commands) {
  struct Options {
    std::string process;
    FarOptions far;
  };
  CLI::App& command = commands.add("detach", "Stop watching a job that hbmscope is attached to; it keeps running", R"(
  hbmscope detach 4711                                            a job of this machine
  hbmscope detach gpu7:4711                                       a job of another machine)");
  const auto options = std::make_shared<Options>();
  command.add_option("JOB", options->process, "A process number, or HOST:NUMBER")->required()->type_name("");
  add_far_options(command, options->far);
  commands.set_action(command, [options] { return run_detach(options->process, options->far); });
}

void add_watch(CommandList& commands) {
  CLI::App& command = commands.add("watch", "Print the device memory of a running job, one line per second", R"(
  hbmscope watch 4711                                             a job that hbmscope observes
  hbmscope watch 4711 --totals                                    any process: its total, from the driver
  hbmscope watch 4711 --metrics 9400                              http://127.0.0.1:9400/metrics, for Prometheus
  hbmscope watch 4711 --otlp http://127.0.0.1:4318 --every 10s    to an OpenTelemetry collector
  hbmscope watch gpu7:4711 --every 10s --json                     on another machine, for scripts)");
  const auto options = std::make_shared<WatchOptions>();
  command
      .add_option(
          "JOB", options->job,
          "The process number of a job or of its hbmscope, a part of its command, HOST:NUMBER, or tcp:HOST:PORT")
      ->required()
      ->type_name("");
  add_seconds_option(command, "--for", options->seconds, "How long to watch: 60s, 5m; default: until the job ends");
  add_seconds_option(command, "--every", options->interval, "The time between lines: 1s, 500ms", {0.05, 3600})
      ->capture_default_str();
  command.add_flag("--json", options->json, "Print one JSON object per line");
  add_max_memory_option(command, options->max_memory);
  command.add_flag("--from-now", options->from_now, "Skip what happened before now");
  command
      .add_option("--metrics", options->metrics,
                  "Serve the figures to Prometheus instead of printing them: a port of this machine, or ADDRESS:PORT")
      ->type_name("PORT");
  command
      .add_option("--otlp", options->otlp,
                  "Send the figures to an OpenTelemetry collector instead of printing them, by OTLP over HTTP")
      ->type_name("URL");
  command.add_flag("--totals", options->totals,
                   "Only print the total of the process, from the driver (NVML); nothing is loaded into it, and "
                   "hbmscope need not be attached");
  add_far_options(command, options->far);
  commands.set_action(command, [options] { return run_watch(*options); });
}

void add_ps(CommandList& commands) {
  CLI::App& command =
      commands.add("ps", "List jobs that use device memory, and whether hbmscope can attach to them", R"(
  hbmscope ps                                                     this machine
  hbmscope ps gpu7                                                another machine, over your own ssh
  hbmscope ps --every 2s                                          again every two seconds)");
  const auto options = std::make_shared<PsOptions>();
  command.add_option("HOST", options->far.host, "The machine; the same as --on HOST. Default: this one")
      ->check([](const std::string& host) { return view::find_host_fault(host); })
      ->type_name("");
  add_json_option(command, options->json);
  add_seconds_option(command, "--every", options->interval,
                     "Print the list again after this time (2s, 1m), with JSON one object per line", {0.1, 3600});
  add_far_options(command, options->far);
  command.add_option("--as", options->as, "")->group("");
  commands.set_action(command, [options] { return run_ps(*options); });
}

void add_demo(CommandList& commands) {
  CLI::App& command = commands.add("demo", "Watch a sample workload on an emulated device; no GPU is needed", R"(
  hbmscope demo                                                   a training step, live in the window
  hbmscope demo --workload fragments --device h100-80             one that fragments its pool
  hbmscope demo --compare-with XLA_PYTHON_CLIENT_ALLOCATOR=platform   two allocators side by side)");
  const auto request = std::make_shared<DemoRequest>();
  add_demo_options(command, request->job);
  command
      .add_option("--compare-with", request->other_side,
                  "Run the workload a second time, side by side, with this setting; repeat for more")
      ->type_name("NAME=VALUE");
  command.add_option("--beside", request->other_side)->group("");  // The earlier name of the option.
  command.add_flag("--headless", request->headless,
                   "Run without a window for a while, then print the heap at its peak");
  add_seconds_option(command, "--for", request->seconds,
                     "How long to run without a window: 10s, 5m; 0: until you press Ctrl+C")
      ->capture_default_str();
  command.add_option("--record", request->record, "Keep the recording in this file")->type_name("FILE");
  add_listen_options(command, request->listen);
  command.add_flag("--json", request->json, "Run without a window and print the summary as JSON, as report does");
  command.add_flag("--list", request->list, "List the workloads");
  commands.set_action(command, [request, &commands] { return run_demo(*request, commands.open_window()); });
}

void add_internal_commands(CommandList& commands) {
  CLI::App& job = commands.add("demo-job", "The workload that demo starts and watches", "");
  const auto demo = std::make_shared<DemoOptions>();
  add_demo_options(job, *demo);
  commands.set_action(job, [demo] { return run_demo_job(*demo); });
  CLI::App& relay = commands.add("relay", "The far end of a connection over ssh", "");
  const auto options = std::make_shared<RelayOptions>();
  relay.add_option("JOB", options->job)->required();
  relay.add_option("--output", options->output);
  relay.add_option("--output-from", options->output_from);
  relay.add_option("--errors-from", options->errors_from);
  commands.set_action(relay, [options] { return run_relay(*options); });
}

}  // namespace hbmscope::cli
