#include <CLI/CLI.hpp>

#include "analysis/units/format.h"
#include "app/cli/run.h"

namespace hbmscope::cli {

void add_flight_options(CLI::App& command, FlightOptions& flight) {
  command.add_option("--flight", flight.folder,
                     "Where a folder is left of a job that ran out of memory or that a signal killed; default: "
                     "hbmscope/flights in $XDG_STATE_HOME");
  command.add_flag("--on-exit", flight.on_exit, "Leave that folder of a job that ended well too");
  command.add_flag("--no-flight", flight.is_off, "Leave no such folder, and the job's standard error alone");
  command.add_option("--flight-keep", flight.keep, "How many of these folders to keep")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--flight-size", flight.size, "How much of them to keep; the one just left stays in any case")
      ->check([](const std::string& text) {
        const auto bytes = parse_bytes(text);
        return bytes ? std::string() : bytes.error().what;
      })
      ->capture_default_str();
  command.add_option("--flight-days", flight.days, "How long to keep them")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

void add_run(CLI::App& app, RunOptions& options) {
  CLI::App& command = *app.add_subcommand("run", "Run a job, watch its device memory live, and record it");
  command.add_option("--record", options.record, "The recording to write; default: COMMAND.PID.hbm in this folder");
  command.add_flag("--no-window", options.no_window, "Only record; without a display that is so anyway");
  command.add_flag("--no-follow", options.no_follow, "Watch the process that is started, none that it starts");
  command
      .add_option("--backend", options.back_end,
                  "Who tells of the CUDA driver's calls: interpose, which leaves CUPTI to the job, or cupti")
      ->check(CLI::IsMember({"interpose", "cupti"}))
      ->capture_default_str();
  command
      .add_option("--stacks", options.stacks,
                  "Who called the CUDA driver: python, its frames with the native ones that they called, where a "
                  "process runs any, else native frames; native; or none")
      ->check(CLI::IsMember({"python", "native", "none"}))
      ->capture_default_str();
  command.add_option("--stack-depth", options.stack_depth, "Frames of a stack at most; what called them is cut off")
      ->check(CLI::Range(1U, wire::stack_depth_max))
      ->capture_default_str();
  add_flight_options(command, options.flight);
  add_listen_options(command, options.listen);
  add_far_options(command, options.far);
  command.add_option("COMMAND", options.command, "What to run, after two dashes: -- python train.py")->required();
}

}  // namespace hbmscope::cli
