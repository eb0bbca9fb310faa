#include "app/cli/attach_options.h"

#include <CLI/CLI.hpp>

#include "app/cli/options.h"

namespace hbmscope::cli {

void add_attach_commands(CLI::App& app, AttachCommands& commands) {
  CLI::App& attach = *app.add_subcommand("attach", "Watch a job that runs already, and let it go again");
  attach
      .add_option("JOB", commands.attach.job,
                  "Its number, or a part of its command, or HOST:NUMBER; hbmscope ps lists jobs")
      ->required();
  attach.add_flag("--all", commands.attach.is_all,
                  "All jobs whose command has that part, or the command of that number: the ranks of one job at once");
  attach.add_option("--record", commands.attach.record, "The recording to write; default: NAME.PID.hbm in this folder");
  add_seconds_option(
      attach, "--for", commands.attach.seconds,
      "How long to stay: 60s, 5m, 1.5h; a number alone is seconds; 0: until the job ends or you end this");
  auto* no_cupti =
      attach.add_flag("--no-cupti", commands.attach.no_cupti,
                      "Leave CUPTI to the job's own profilers; then nobody tells of the CUDA driver's calls");
  attach
      .add_flag("--totals", commands.attach.totals,
                "Load nothing into it: only what the driver tells of it (NVML), once a second")
      ->excludes(no_cupti);
  attach.add_flag("--no-window", commands.attach.no_window, "Only record; without a display that is so anyway");

  add_flight_options(attach, commands.attach.flight);
  add_listen_options(attach, commands.attach.listen);
  add_far_options(attach, commands.attach.far);

  CLI::App& detach = *app.add_subcommand("detach", "Let a job go that hbmscope is attached to");
  detach.add_option("JOB", commands.detach, "Its number, or HOST:NUMBER")->required();
  add_far_options(detach, commands.detach_far);

  CLI::App& ps = *app.add_subcommand("ps", "Jobs that hold device memory, and whether they can be attached to");
  ps.add_option("HOST", commands.ps.far.host, "Of this machine, by your own ssh; the same as --on HOST")
      ->check([](const std::string& host) { return view::find_host_fault(host); });
  ps.add_flag("--json", commands.ps.json, "Print JSON (described in app/cli/README.md)");
  add_seconds_option(ps, "--every", commands.ps.interval,
                     "Again after so long (2s, 1m), until it is ended; JSON then in one line", {0.1, 3600});
  add_far_options(ps, commands.ps.far);
  ps.add_option("--as", commands.ps.as, "")->group("");
}

}  // namespace hbmscope::cli
