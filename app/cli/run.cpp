#include "app/cli/run.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/cli/display.h"
#include "app/cli/far_job.h"
#include "app/cli/far_start.h"
#include "app/cli/observed_job.h"
#include "app/cli/terminal.h"
#include "app/cli/window_process.h"

namespace hbmscope::cli {
namespace {

volatile std::sig_atomic_t signal_to_forward = 0;

std::string text_from_stacks(const RunOptions& options) {
  if (options.stacks == "none") return ", without stacks";
  return fmt::format(", with {} stacks of at most {} frames (--stacks)",
                     options.stacks == "python" ? "Python and native" : "native", options.stack_depth);
}

void note_signal_to_forward(int signal) {
  signal_to_forward = signal;
}

int run_there(const RunOptions& options, const std::string& name, bool has_window) {
  FarJobOptions there;
  there.far = options.far;
  there.words = options.words;
  there.words.emplace_back("--");
  there.words.insert(there.words.end(), options.command.begin(), options.command.end());
  there.record = options.record;
  there.name = fmt::format("{}.{}.{}", name, options.far.host, getpid());
  there.no_window = options.no_window;
  return follow_far_job(there, has_window);
}

}  // namespace

int run_job(const RunOptions& options, bool has_window) {
  const std::string name = std::filesystem::path(options.command.front()).filename().string();
  if (!options.far.host.empty()) {
    if (const auto refused =
            refuse_to_listen(options.listen, "ssh already connects to the other machine", "Remove --listen or --on."))
      return *refused;
    return run_there(options, name, has_window);
  }
  const std::string path = options.record.empty() ? fmt::format("{}.{}.hbm", name, getpid()) : options.record;
  for (const int one : {SIGTERM, SIGHUP})
    // Keeps it ignored under nohup.
    if (std::signal(one, note_signal_to_forward) == SIG_IGN) std::signal(one, SIG_IGN);
  ObservedJob job;
  Flight flight(options.flight, name, path);
  flight.open();
  JobSettings settings;
  settings.is_followed = !options.no_follow;
  settings.wants_cupti = options.back_end == "cupti";
  if (options.stacks != "none") settings.stacks = fmt::format("{}:{}", options.stacks, options.stack_depth);
  settings.listen = options.listen;
  settings.memory_dump_prefix = flight.memory_dump_prefix();
  if (flight.is_open()) settings.stderr_tail = &flight.stderr_tail();
  if (const auto failed = job.start(options.command, path, settings)) return *failed;
  report_far_start();
  if (!settings.wants_cupti)
    say("CUDA driver calls are recorded by interposition, which leaves CUPTI to the job" + text_from_stacks(options));
  else  // The job's processes report whether that works.
    say("CUDA driver calls are recorded" + text_from_stacks(options));
  WindowProcess window;
  if (has_window && !options.no_window && has_display()) window.open(job.viewer_socket());
  for (bool is_running = true; is_running;) {
    const bool was_recording = job.is_recording();
    is_running = job.serve();
    if (signal_to_forward != 0 && is_running) job.send_signal(std::exchange(signal_to_forward, 0));
    flight.note(job.take_failures(), was_recording);
  }
  flight.stderr_tail().finish();
  flight.finish(job.status(), job.has_reported());
  job.print_summary();
  return job.exit_code();
}

}  // namespace hbmscope::cli
